import type { Socket } from 'node:net';

/** Of one answer no more than this is read, whatever it consists of; what a receiver says means little to us. */
const ANSWER_BYTES_MAX = 65_536;
const LOOK_EVERY_BYTES = ANSWER_BYTES_MAX / 2;

/** More came than is read of one answer. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/**
 * Destroys the connection once half of `ANSWER_BYTES_MAX` came since the last look with nothing sent in between: an
 * answer ends between half of the limit and all of it. Bytes are counted as they come in: what a parser passes over,
 * such as the rest of a status line, is never seen behind it.
 */
export function limitAnswers(socket: Socket): void {
  let read = socket.bytesRead;
  let written = socket.bytesWritten;
  socket.on('readable', () => {
    if (socket.bytesRead - read < LOOK_EVERY_BYTES) return;
    if (socket.bytesWritten === written) {
      socket.destroy(new AnswerTooLong(`More than ${LOOK_EVERY_BYTES} bytes without a request`));
    }
    read = socket.bytesRead;
    written = socket.bytesWritten;
  });
}

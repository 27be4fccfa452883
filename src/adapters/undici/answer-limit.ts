import type { Socket } from 'node:net';

/** Of one answer no more than this is read, whatever it consists of; what a receiver says means little to us. */
export const ANSWER_BYTES_MAX = 65_536;

/** A receiver does not stop. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/**
 * Destroys the connection when more than `ANSWER_BYTES_MAX` bytes come without anything being sent in between. They are
 * counted as they come in: what a parser passes over, such as the rest of a status line, is never seen behind it.
 * Looked at twice within the limit, so that an answer ends between half of it and the whole.
 */
export function limitAnswers(socket: Pick<Socket, 'bytesRead' | 'bytesWritten' | 'on' | 'destroy'>): void {
  let read = socket.bytesRead;
  let written = socket.bytesWritten;
  socket.on('readable', () => {
    if (socket.bytesRead - read < ANSWER_BYTES_MAX / 2) return;
    if (socket.bytesWritten === written) {
      socket.destroy(new AnswerTooLong(`More than ${ANSWER_BYTES_MAX / 2} bytes of an answer`));
    }
    read = socket.bytesRead;
    written = socket.bytesWritten;
  });
}

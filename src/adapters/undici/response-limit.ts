import type { Socket } from 'node:net';
import { ResponseTooLong } from './connection-errors.ts';

/** No more than this is read of one response, whatever it consists of: what a receiver says means little to us. */
const RESPONSE_BYTES_MAX = 65_536;
const CHECK_EVERY_BYTES = RESPONSE_BYTES_MAX / 2;

/**
 * Destroys the connection once half of `RESPONSE_BYTES_MAX` came since the last check with nothing sent in between: a
 * response ends between half of the limit and all of it. Bytes are counted as they come in: what a parser skips, such as
 * the rest of a status line, is never seen behind it.
 */
export function limitResponses(socket: Socket): void {
  let read = socket.bytesRead;
  let written = socket.bytesWritten;
  socket.on('readable', () => {
    if (socket.bytesRead - read < CHECK_EVERY_BYTES) return;
    if (socket.bytesWritten === written) {
      socket.destroy(new ResponseTooLong(`More than ${CHECK_EVERY_BYTES} bytes without a request`));
    }
    read = socket.bytesRead;
    written = socket.bytesWritten;
  });
}

import type { Socket } from 'node:net';

/**
 * Closes a connection at once. When its client has not read what was written, it is reset: the system would keep megabytes of an
 * ordinary close for minutes, for a client that may never read.
 */
export function dropConnection(socket: Socket): void {
  if (socket.writableLength > 0) socket.resetAndDestroy();
  else socket.destroy();
}

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** A connection that falls idle after the server closed is noticed within this time. */
const IDLE_CHECK_MS = 25;

/** The open connections of a server, kept up to date. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return connections;
}

/**
 * Stops accepting and waits for the requests in flight; their answers must say `Connection: close`. Resolves
 * with true when every connection ended by itself, with false when the rest was cut after `timeoutMs`.
 */
export function closeGracefully(
  server: Server,
  connections: ReadonlySet<Socket>,
  timeoutMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    let cut = false;
    const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    const deadline = setTimeout(() => {
      cut = true;
      server.closeAllConnections();
    }, timeoutMs);
    // The only error there is says that the server was not listening any more.
    server.close(() => {
      clearInterval(idleCheck);
      clearTimeout(deadline);
      resolve(!cut);
    });
    // To Node, a connection that never said a word is about to send its first request.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  });
}

import type { Server } from 'node:http';

/** A connection that falls idle after the server closed is noticed within this time. */
const IDLE_CHECK_MS = 25;

/**
 * Stops accepting and waits for the requests in flight; their answers must say `Connection: close`. Resolves
 * with true when every connection ended by itself, with false when the rest was cut after `timeoutMs`.
 */
export function closeGracefully(server: Server, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let cut = false;
    const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    const deadline = setTimeout(() => {
      cut = true;
      server.closeAllConnections();
    }, timeoutMs);
    server.close((error) => {
      clearInterval(idleCheck);
      clearTimeout(deadline);
      if (error === undefined || !server.listening) resolve(!cut);
      else reject(error);
    });
  });
}

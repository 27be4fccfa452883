import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';

/** A connection that falls idle after the server closed is noticed within this time. */
const IDLE_CHECK_MS = 25;

export interface ClosingTimes {
  /** What has not ended after this time is cut. */
  readonly timeoutMs: number;
  /**
   * Idle connections are kept this long: a caller that has not heard of the close may have sent a request on
   * one just now, and would have to guess whether it was served.
   */
  readonly lingerMs: number;
}

/**
 * Stops accepting and waits for the requests in flight; their replies must say `Connection: close`. Resolves
 * with true when every connection ended by itself, with false when the rest was cut after `timeoutMs`.
 */
export function closeGracefully(
  server: Server,
  connections: ReadonlySet<Socket>,
  { timeoutMs, lingerMs }: ClosingTimes,
): Promise<boolean> {
  return new Promise((resolve) => {
    let cut = false;
    let idleCheck: NodeJS.Timeout | undefined;
    const closeIdle = () => {
      idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
      server.closeIdleConnections();
      // To Node, a connection that never said a word is about to send its first request.
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    };
    const deadline = setTimeout(() => {
      cut = true;
      server.closeAllConnections();
      // Node does not know those any more that asked for a tunnel.
      for (const socket of connections) socket.destroy();
    }, timeoutMs);
    const linger = lingerMs > 0 ? setTimeout(closeIdle, lingerMs) : undefined;
    // Not the close of an HTTP server: that one closes idle connections at once. The only error there is says
    // that the server was not listening any more.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(linger);
      clearInterval(idleCheck);
      clearTimeout(deadline);
      resolve(!cut);
    });
    if (lingerMs === 0) closeIdle();
  });
}

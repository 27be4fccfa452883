import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { ResponseTooLong } from './connection-errors.ts';
import { HeaderLines } from './header-lines.ts';

/** No more header lines in a row are read of one response of a provider. */
export const PROVIDER_HEADER_LINES_MAX = 200;

/**
 * Connects to a provider. What comes is counted before undici parses it: beyond its limit of bytes undici makes an error of each
 * header line that is left, and thousands of them stop the event loop for seconds.
 */
export function providerConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, connected) =>
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        connected(error, null);
        return;
      }
      limitHeaderLines(socket);
      connected(null, socket);
    });
}

/** Undici takes what came with `read`, and with nothing else. */
function limitHeaderLines(socket: Socket): void {
  const lines = new HeaderLines();
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null) return null;
    lines.read(chunk);
    if (lines.inRow <= PROVIDER_HEADER_LINES_MAX) return chunk;
    socket.destroy(new ResponseTooLong(`More than ${PROVIDER_HEADER_LINES_MAX} header lines in a row`));
    return null;
  };
}

import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { ResponseTooLong } from './connection-errors.ts';
import { HeaderLines } from './header-lines.ts';

/** No more header lines in a row are read of one response of a provider. */
export const PROVIDER_HEADER_LINES_MAX = 200;

/** What a response may have beside its body and as much framing, in bytes. */
const HEAD_BYTES_MAX = 32 * 1024;

/**
 * Connects to a provider. What comes is counted before undici parses it. Beyond its limit of bytes undici makes an error of each
 * header line that is left, and thousands of them stop the event loop for seconds. The framing of chunks is in no body, so that
 * nobody else counts it. `bodyBytesMax` is the longest body that any request of the provider allows.
 */
export function providerConnector(
  options: buildConnector.BuildOptions,
  bodyBytesMax: () => number,
): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, connected) =>
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        connected(error, null);
        return;
      }
      limitResponses(socket, bodyBytesMax);
      connected(null, socket);
    });
}

/** Undici takes what came with `read`, and with nothing else. It writes the next request when it has the response. */
function limitResponses(socket: Socket, bodyBytesMax: () => number): void {
  const lines = new HeaderLines();
  let bytes = 0;
  const { read, write } = socket;
  socket.write = ((...args: Parameters<Socket['write']>) => {
    bytes = 0;
    return write.apply(socket, args);
  }) as Socket['write'];
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read.call(socket, size);
    if (chunk === null) return null;
    lines.read(chunk);
    bytes += chunk.length;
    if (lines.inRow > PROVIDER_HEADER_LINES_MAX) {
      socket.destroy(new ResponseTooLong(`More than ${PROVIDER_HEADER_LINES_MAX} header lines in a row`));
      return null;
    }
    if (bytes > 2 * bodyBytesMax() + HEAD_BYTES_MAX) {
      socket.destroy(new ResponseTooLong('More framing than body'));
      return null;
    }
    return chunk;
  };
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers';

/** What Node's parser calls for each request with complete headers. Node has no public way to end it inside a chunk. */
interface Parser {
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
}

/** What Node's parser says of a request that asks for another protocol, or for a tunnel. */
type UpgradableRequest = IncomingMessage & { upgrade?: boolean };

/** Returned to the parser: it parses nothing more of the connection, and reports the error below. */
const STOP = -1;
/** The code of the client error by which a connection whose parser was stopped is known. */
export const PARSER_STOPPED = 'HPE_CB_HEADERS_COMPLETE';

/**
 * Hands over no request that is not allowed, and none behind it. A parser without the function hands over all. When such a
 * request asks for another protocol, the parser reports no error, and Node would leave the connection to somebody who speaks that
 * protocol: `stopped` is called in place of both.
 */
export function stopParser(
  socket: Socket,
  isAllowed: (request: IncomingMessage) => boolean,
  stopped: () => void,
): void {
  const { parser } = socket as Socket & { readonly parser?: Parser };
  if (parser === undefined) return;
  const { onIncoming } = parser;
  parser.onIncoming = (request: UpgradableRequest, keepAlive) => {
    if (isAllowed(request)) return onIncoming(request, keepAlive);
    if (request.upgrade === true) {
      request.upgrade = false;
      setImmediate(stopped);
    }
    return STOP;
  };
}

/**
 * A parser cannot be ended inside a body. Here it loses what it calls for each piece: ten thousand pieces in one read take 14 ms.
 * It is whole again in the next round: nothing more is read from this connection, and another may get the parser then.
 */
export function ignoreBodies(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Record<string, unknown> };
  const found = Object.entries(parser ?? {}).find(([, value]) => isNamed(value, 'parserOnBody'));
  if (parser === undefined || found === undefined) return;
  const [key, onBody] = found;
  parser[key] = null;
  setImmediate(() => {
    parser[key] = onBody;
  });
}

function isNamed(value: unknown, name: string): boolean {
  return typeof value === 'function' && value.name === name;
}

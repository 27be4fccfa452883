import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_DEPTH_MAX } from '../limits.ts';
import { BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE } from './error-bodies.ts';
import { BadRequest, ClientDisconnected, invalid } from './http-reply.ts';

const MEDIA_TYPE_PATTERN = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-?8"?[ \t]*)?;?$/i;
const BYTE_ORDER_MARK = '\uFEFF';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * The JSON value in the body of a request. Refuses, in this order: more than `bytesMax` (413, at once when
 * Content-Length says so), another media type or encoding (415), text that is not UTF-8, nests deeper than
 * `JSON_DEPTH_MAX` or is not JSON (400). Of equal keys in one object the last wins, as everywhere in JavaScript.
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): Promise<unknown> {
  const { headers } = request;
  const announced = headers['content-length'];
  if (announced !== undefined && Number(announced) > bytesMax) throw new BadRequest(BODY_TOO_LARGE);
  if (!isJson(headers['content-type']) || !isIdentity(headers['content-encoding'])) {
    throw new BadRequest(UNSUPPORTED_MEDIA_TYPE);
  }
  if (headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
  return parseJson(await readBytes(request, bytesMax));
}

/** The JSON value in raw bytes; refuses as `readJson` does. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalid('The request body is not valid UTF-8', 'invalid-encoding');
  const decoded = bytes.toString('utf8');
  const text = decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  if (nestsTooDeep(text)) throw invalid('The request body is nested too deep', 'nested-too-deep');
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('The request body is not valid JSON', 'malformed-json');
  }
}

function isJson(contentType: string | undefined): boolean {
  return (
    contentType === 'application/json' || (contentType !== undefined && MEDIA_TYPE_PATTERN.test(contentType))
  );
}

function isIdentity(contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity';
}

function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (error: Error): void => {
      request.off('data', take);
      request.pause();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > bytesMax) stop(new BadRequest(BODY_TOO_LARGE));
    };
    request.on('data', take);
    request.on('end', () => {
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size));
    });
    request.on('error', () => stop(new ClientDisconnected('the caller left before the body was complete')));
  });
}

/** Counts brackets outside of strings, so that nothing recursive ever meets a deep value. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (inString) {
      if (unit === BACKSLASH) index += 1;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) {
      inString = true;
    } else if (unit === OPENING_BRACKET || unit === OPENING_BRACE) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return true;
    } else if (unit === CLOSING_BRACKET || unit === CLOSING_BRACE) {
      depth -= 1;
    }
  }
  return false;
}

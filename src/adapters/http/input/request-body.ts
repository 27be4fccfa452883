import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clearInterval, setInterval } from 'node:timers';
import { GrowingBuffer } from '../../../application/growing-buffer.ts';
import { JSON_DEPTH_MAX, jsonExcess } from '../../../domain/shared/json-text.ts';
import { JSON_LIST_ITEMS_MAX, JSON_MEMBERS_MAX, JSON_OBJECT_MEMBERS_MAX, SLOW_BODY_MS } from '../limits.ts';
import { ClientDisconnected, invalid, RequestRejected } from '../replies/http-error.ts';
import { ANY_TYPE, BODY_TOO_LARGE, OVERLOADED, unsupportedMediaType } from '../replies/known-errors.ts';

export const JSON_TYPE = 'application/json';

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const UTF8_CHARSET = 'charset[ \\t]*=[ \\t]*"?utf-?8"?';
const OTHER_PARAMETER = `(?!charset[ \\t]*=)${TOKEN}=(?:${TOKEN}|${QUOTED})`;
/** Parameters are allowed, and charset can be UTF-8 only. Each character fits in one way: no header takes long. */
const JSON_TYPE_PATTERN = new RegExp(
  `^application/json[ \\t]*(?:;[ \\t]*(?:(?:${UTF8_CHARSET}|${OTHER_PARAMETER})[ \\t]*)?)*$`,
  'i',
);
const JSON_LIMITS = {
  depth: JSON_DEPTH_MAX,
  objectMembers: JSON_OBJECT_MEMBERS_MAX,
  listItems: JSON_LIST_ITEMS_MAX,
} as const;
/** The shortest member of an object is `"":0` and a comma. */
const MEMBER_CHARACTERS_MIN = 5;
const BYTE_ORDER_MARK = '\uFEFF';
const REPLACEMENT_CHARACTER = '\uFFFD';

/** Rejects with 413 when Content-Length says that the body is larger than `bytesMax`. */
export function checkAnnouncedSize({ headers }: IncomingMessage, bytesMax: number): void {
  const announced = headers['content-length'];
  if (announced !== undefined && Number(announced) > bytesMax) throw new RequestRejected(BODY_TOO_LARGE);
}

/** Rejects with 415 a body of another media type, compressed, or of JSON that is not in UTF-8. */
export function checkMediaType({ headers }: IncomingMessage, mediaType: string): void {
  const contentType = headers['content-type'];
  const fits =
    mediaType === ANY_TYPE ||
    (mediaType === JSON_TYPE ? isJson(contentType) : essenceOf(contentType) === mediaType);
  if (!fits || !isIdentity(headers['content-encoding'])) {
    throw new RequestRejected(unsupportedMediaType(mediaType));
  }
}

interface ReadOptions {
  /** Hears after each piece how many bytes are in memory. */
  readonly onHeld?: ((bytes: number) => void) | undefined;
  /** Asked again after every `SLOW_BODY_MS` of reading: whether the rest of the body may take longer. */
  readonly mayBeSlow?: (() => boolean) | undefined;
}

/**
 * The bytes of the body. Rejects with 413 beyond `bytesMax`, with 503 a body that is slow and may not be, and with
 * `ClientDisconnected` when the caller leaves, or has left already; a caller who waits is told to go on.
 */
export function readBytes(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
  { onHeld, mayBeSlow }: ReadOptions = {},
): Promise<Buffer> {
  // No event comes any more.
  if (request.destroyed)
    return Promise.reject(new ClientDisconnected('the caller left before the body was read'));
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer(bytesMax);
    const slow = mayBeSlow === undefined ? undefined : setInterval(() => checkTime(mayBeSlow), SLOW_BODY_MS);
    const stop = (error: Error): void => {
      clearInterval(slow);
      request.off('data', take);
      request.pause();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      if (body.add(chunk)) onHeld?.(body.capacity);
      else stop(new RequestRejected(BODY_TOO_LARGE));
    };
    const checkTime = (mayGoOn: () => boolean): void => {
      if (!mayGoOn()) stop(new RequestRejected(OVERLOADED));
    };
    request.on('data', take);
    request.on('end', () => {
      clearInterval(slow);
      resolve(body.bytes());
    });
    request.on('error', () => stop(new ClientDisconnected('the caller left before the body was complete')));
  });
}

/** The text in raw bytes, without a byte order mark. Rejects with 400 what is not UTF-8. */
export function decodeText(bytes: Buffer): string {
  const decoded = bytes.toString('utf8');
  // What is not UTF-8 becomes this character. It may also stand in the body itself: then the bytes are checked.
  if (decoded.includes(REPLACEMENT_CHARACTER) && !isUtf8(bytes)) {
    throw invalid('The request body is not valid UTF-8', 'invalid-encoding');
  }
  return decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
}

/**
 * The JSON value in a text. Rejects with 400 what nests deeper than 32 levels, has more than `membersMax` members or an object or
 * list of too many, or is not JSON. Of equal keys in one object the last wins, as everywhere in JavaScript. A member that is null
 * counts as absent: typed clients write null for a field they have no value for.
 */
export function parseJson(text: string, membersMax: number = JSON_MEMBERS_MAX): unknown {
  const excess = excessOf(text, membersMax);
  if (excess === 'depth') throw invalid('The request body is nested too deep', 'nested-too-deep');
  if (excess === 'members') throw invalid('The request body has too many members');
  const value = jsonOf(text);
  // Most bodies hold no null, and this tells without a walk.
  if (text.includes('null')) dropNulls(value);
  return value;
}

/**
 * Whether JSON that `decodeText` returned may hold an escape. The texts in JSON without one have neither NUL nor half of a
 * surrogate pair: the first is no JSON, and the second no UTF-8.
 */
export function hasEscapes(json: string): boolean {
  return json.includes('\\');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('The request body is not valid JSON', 'malformed-json');
  }
}

/** Removes the members that are null from every object in a value; an item of a list stays. */
function dropNulls(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (member !== null) dropNulls(member);
    else if (!Array.isArray(value)) Reflect.deleteProperty(value, name);
  }
}

function isJson(contentType: string | undefined): boolean {
  return contentType === JSON_TYPE || (contentType !== undefined && JSON_TYPE_PATTERN.test(contentType));
}

function essenceOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase();
}

function isIdentity(contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity';
}

/** Most bodies are one flat object with few members, and this tells without a walk. */
function excessOf(text: string, membersMax: number): ReturnType<typeof jsonExcess> {
  const isFlat = !text.includes('[') && !text.includes('{', text.indexOf('{') + 1);
  if (isFlat && text.length <= JSON_OBJECT_MEMBERS_MAX * MEMBER_CHARACTERS_MIN) return null;
  return jsonExcess(text, { ...JSON_LIMITS, members: membersMax });
}

import jsonpointer from 'jsonpointer';
import { JSON_MEMBERS_READ_MAX, limitedJsonOf } from '../../domain/shared/json-text.ts';

/** A path in JSON: finds a value in a document, or undefined. */
export type Pointer = (document: unknown) => unknown;

/** Part of a provider message id, in characters; a store adds the provider's name. */
const GATEWAY_ID_CHARACTERS_MAX = 128;
const GATEWAY_ID = new RegExp(`^[!-~]{1,${GATEWAY_ID_CHARACTERS_MAX}}$`);

/** A number of JSON with this many digits may be more than a JavaScript number can hold. */
const LONG_NUMBER = /\d{16}/;
/** One of more digits is cut, and then the text is no JSON any more: its length alone would take half a second. */
const NUMBER = /-?\d{1,1000}(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,1000})?/g;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * A JSON pointer (RFC 6901), such as `/messages/0/id`; an empty one is the whole document. Throws when the text is none. It
 * only names members: unlike JSONPath or JMESPath it has no filters and functions, and a hyphen is no minus.
 */
export function pointer(text: string): Pointer {
  if (text !== '' && !text.startsWith('/')) throw new Error('a path is a JSON pointer, which begins with /');
  const compiled = jsonpointer.compile(text);
  return (document) =>
    typeof document === 'object' && document !== null ? compiled.get(document) : undefined;
}

/**
 * The document in a JSON text, or undefined, also when it has more members. Whole numbers too long for a JavaScript number become
 * texts of their digits.
 */
export function readJson(text: string, members = JSON_MEMBERS_READ_MAX): unknown {
  const trimmed = text.trim();
  const document = limitedJsonOf(trimmed, members);
  if (document === undefined || !LONG_NUMBER.test(trimmed)) return document;
  return limitedJsonOf(withLongNumbersAsTexts(trimmed), members);
}

/** A text, number or boolean as text; null for anything else. */
export function scalarText(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : null;
}

/** The gateway's id of a message, or null when the value can be none. */
export function gatewayId(value: unknown): string | null {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return null;
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).trim();
  return GATEWAY_ID.test(text) ? text : null;
}

/** Of a text that is JSON. It is read once: one expression for strings and numbers took half a second for 3 MB of escapes. */
function withLongNumbersAsTexts(json: string): string {
  let result = '';
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const stringAt = quote === -1 ? json.length : quote;
    const end = quote === -1 ? json.length : endOfString(json, quote);
    const between = json.slice(at, stringAt);
    result += between.replace(NUMBER, (token) => (isLongNumber(token) ? `"${token}"` : token));
    result += json.slice(stringAt, end);
    at = end;
  }
  return result;
}

/** The position behind the string that begins at this one. */
function endOfString(json: string, begin: number): number {
  let at = begin + 1;
  while (json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isLongNumber(token: string): boolean {
  return /^-?\d{16,}$/.test(token);
}

import { z } from 'zod';

const PROBLEM =
  'must be name=value, several separated by commas, with percent-encoded values; Content-Type, Host and the like follow from the request';
const PAIR = /^(?<name>[\w!#$%&'*+.^`|~-]+)=(?<value>[\x21-\x2b\x2d-\x7e]*)$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;
const OF_REQUEST = /^(content-type|content-length|host|connection|transfer-encoding|expect|upgrade|te)$/;

/** Headers as OpenTelemetry writes them in one variable. Their names are in small letters then. */
export const headerList = z.string().transform((text, { addIssue }): Readonly<Record<string, string>> => {
  const pairs = text === '' ? [] : text.split(',').map(headerOf);
  const headers = pairs.filter((pair) => pair !== null);
  if (headers.length === pairs.length) return Object.fromEntries(headers);
  addIssue(PROBLEM);
  return z.NEVER;
});

/** Null for what is no pair, or no header that may be given. */
function headerOf(pair: string): readonly [name: string, value: string] | null {
  const { name = '', value = '' } = PAIR.exec(pair.trim())?.groups ?? {};
  const lower = name.toLowerCase();
  const decoded = decode(value);
  if (lower === '' || OF_REQUEST.test(lower) || !HEADER_VALUE.test(decoded)) return null;
  return [lower, decoded];
}

/** A line feed, which no header has, for a percent sign that encodes nothing. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '\n';
  }
}

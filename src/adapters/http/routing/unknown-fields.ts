import type { IncomingMessage } from 'node:http';
import { invalid } from '../replies/http-error.ts';
import type { HttpReply } from '../replies/http-reply.ts';
import type { DocumentedHeader } from './documented.ts';

const UNKNOWN_FIELDS = 'X-Unknown-Fields';
const NAMES_MAX = 10;
const NAME_CHARACTERS_MAX = 64;
const UNSAFE_IN_HEADERS = /[^A-Za-z0-9_.-]/g;
const STRICT = /(?:^|,)[ \t]*handling[ \t]*=[ \t]*(?:strict|"strict")[ \t]*(?:[;,]|$)/i;

/** `Prefer` as RFC 7240 defines it; other preferences are ignored. */
export const PREFER_HEADER: DocumentedHeader = {
  name: 'Prefer',
  description: 'handling=strict rejects a body with unknown fields, which are ignored otherwise',
  example: 'handling=strict',
  pattern: '^[ -~]+$',
};

/** Header names of a reply that can name unknown fields. */
export const UNKNOWN_FIELDS_HEADERS: readonly string[] = [UNKNOWN_FIELDS];

/**
 * The fields of a body that validation dropped, each with its path: `deliveryReport.webhookURL`. At most ten, cut to
 * 64 characters, and with underscores for what a header cannot hold. `checked` has every known field under its own
 * name.
 */
export function unknownFields(json: unknown, checked: unknown): readonly string[] {
  const names: string[] = [];
  collect(json, checked, '', names);
  return names;
}

/** Rejects a request with unknown fields when it asks for that: `Prefer: handling=strict`. */
export function rejectIfStrict({ headers }: IncomingMessage, names: readonly string[]): void {
  const { prefer } = headers;
  const preferences = Array.isArray(prefer) ? prefer.join(',') : prefer;
  if (preferences === undefined || !STRICT.test(preferences)) return;
  throw invalid(`Unknown fields: ${names.join(', ')}`, 'unknown-fields');
}

/** The reply with a header that names the unknown fields. */
export function namingUnknownFields<Reply extends HttpReply>(reply: Reply, names: readonly string[]): Reply {
  return { ...reply, headers: [...(reply.headers ?? []), UNKNOWN_FIELDS, names.join(', ')] };
}

function collect(json: unknown, checked: unknown, parentPath: string, names: string[]): void {
  if (!isObjectOrList(json) || !isObjectOrList(checked)) return;
  for (const name in json) {
    if (names.length === NAMES_MAX) return;
    if (!Object.hasOwn(checked, name)) names.push(safe(`${parentPath}${name}`));
    else if (isObjectOrList(json[name])) collect(json[name], checked[name], `${parentPath}${name}.`, names);
  }
}

function isObjectOrList(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function safe(name: string): string {
  return name.slice(0, NAME_CHARACTERS_MAX).replace(UNSAFE_IN_HEADERS, '_');
}

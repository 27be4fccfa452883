import { millisecondsInSecond } from 'date-fns/constants';
import type { Submission } from '../../application/ports/channel-provider.ts';
import type { ProviderRequest } from '../../application/ports/provider-http.ts';
import { attemptName } from '../../domain/chain/attempt-name.ts';
import { smsPartsOf } from '../../domain/sms/sms-parts.ts';
import type { EncodingOptions, RequestOptions } from './gateway-settings.ts';
import { type Mistake, orMistake } from './mistake.ts';
import {
  NO_MESSAGE,
  PLACEHOLDERS,
  type Placeholder,
  type PlaceholderValues,
  placeholderOf,
  type Secrets,
  Template,
  type TemplateScope,
} from './template.ts';

/** What messages are sent with, beside what they say of themselves. */
export interface SendingOptions {
  /** The sender of messages that name none; null when they have none. */
  readonly defaultSenderId: string | null;
  readonly encodings: EncodingOptions;
}

/** A request of the configuration as it is made for one message. */
export type RequestMaker = (values: PlaceholderValues) => ProviderRequest;

type Json = NonNullable<RequestOptions['json']> | null;

type Maker<Value> = (values: PlaceholderValues) => Value;

/** A member of a JSON template that is left out. */
const ABSENT = Symbol('absent');

const URL_START = /^https?:\/\/[^\s/?#{}@]+(?=[/?]|$)/;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** The HTTP client sets these itself. */
const CLIENT_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** A text is for a person: it can hold anything, and a path or a header cannot. */
const IN_HEADERS = PLACEHOLDERS.filter((name) => name !== 'text');
const IN_PATHS = IN_HEADERS.filter((name) => name !== 'from');

/** What the placeholders stand for in one message. */
export function valuesOf(
  submission: Submission,
  { defaultSenderId, encodings }: SendingOptions,
): PlaceholderValues {
  const { phoneNumber, text, senderId, attemptTimeoutMs } = submission;
  const { encoding, parts } = smsPartsOf(text);
  return {
    to: phoneNumber,
    '+to': `+${phoneNumber}`,
    text,
    from: senderId ?? defaultSenderId,
    id: attemptName(submission),
    parts: parts.length,
    encoding: encodings[encoding],
    validitySeconds: Math.max(1, Math.floor(attemptTimeoutMs / millisecondsInSecond)),
  };
}

/** What makes the requests; every mistake in the options goes to `mistake`, by its path in them. */
export function requestMaker(
  options: RequestOptions,
  secrets: Secrets,
  mistake: Mistake,
  allowed: readonly Placeholder[] = PLACEHOLDERS,
): RequestMaker {
  const { method } = options;
  const scope = (names: readonly Placeholder[]) => ({
    placeholders: names.filter((name) => allowed.includes(name)),
    secrets,
  });
  const templates = (part: 'headers' | 'query' | 'form', names: readonly Placeholder[]) =>
    Object.entries(options[part] ?? {}).flatMap(([name, text]) => {
      const template = orMistake(mistake, [part, name], () => new Template(text, scope(names)));
      return template === null ? [] : [{ name, template }];
    });

  const url = orMistake(mistake, ['url'], () => urlMaker(options.url, scope(IN_PATHS), scope(PLACEHOLDERS)));
  const query = templates('query', PLACEHOLDERS);
  const headers = templates('headers', IN_HEADERS);
  for (const { name, template } of headers) {
    if (!HEADER_NAME.test(name) || CLIENT_HEADERS.has(name.toLowerCase())) {
      mistake(['headers', name], 'is no header that a request can set');
    }
    const sample = template.fill(NO_MESSAGE) ?? '';
    if (headerValue(sample) !== sample) {
      mistake(['headers', name], 'has a character, or a credential with one, that a header cannot hold');
    }
  }
  const authorization =
    options.basic === undefined
      ? null
      : orMistake(mistake, ['basic'], () => basicHeader(options.basic, scope([])));
  const body = bodyMaker();

  return (values) => {
    const pairs = pairsOf(query, values);
    const start = url?.(values) ?? '';
    const content = body?.make(values);
    return {
      method,
      url: pairs === '' ? start : `${start}${start.includes('?') ? '&' : '?'}${pairs}`,
      headers: {
        ...(body === null ? {} : { 'content-type': body.type }),
        ...(authorization === null ? {} : { authorization }),
        ...Object.fromEntries(
          headers.flatMap(({ name, template }) => {
            const value = template.fill(values);
            return value === null ? [] : [[name.toLowerCase(), headerValue(value)]];
          }),
        ),
      },
      ...(content === undefined ? {} : { body: content }),
    };
  };

  function bodyMaker(): { readonly type: string; readonly make: Maker<string> } | null {
    const given = (['json', 'form', 'text'] as const).filter((name) => options[name] !== undefined);
    const [name] = given;
    if (name === undefined) return null;
    if (given.length > 1) mistake([], `has one body: ${given.join(' and ')} are two`);
    if (method === 'GET') mistake([name], 'a GET request has no body');
    if (name === 'form') {
      const fields = templates('form', PLACEHOLDERS);
      return { type: 'application/x-www-form-urlencoded', make: (values) => pairsOf(fields, values) };
    }
    if (name === 'text') {
      const template = orMistake(
        mistake,
        ['text'],
        () => new Template(options.text ?? '', scope(PLACEHOLDERS)),
      );
      return { type: 'text/plain; charset=utf-8', make: (values) => template?.fill(values) ?? '' };
    }
    const make = jsonMaker(options.json ?? null, ['json']);
    return { type: 'application/json', make: (values) => JSON.stringify(make(values)) };
  }

  function jsonMaker(json: Json, path: readonly PropertyKey[]): Maker<unknown> {
    if (typeof json === 'string') {
      return orMistake(mistake, path, () => jsonText(json)) ?? (() => ABSENT);
    }
    if (Array.isArray(json)) {
      const items = json.map((item, index) => jsonMaker(item, [...path, index]));
      return (values) => items.map((item) => item(values)).filter((item) => item !== ABSENT);
    }
    if (typeof json === 'object' && json !== null) {
      const members = Object.entries(json).map(
        ([name, value]) => [name, jsonMaker(value, [...path, name])] as const,
      );
      return (values) =>
        Object.fromEntries(
          members.map(([name, value]) => [name, value(values)]).filter(([, value]) => value !== ABSENT),
        );
    }
    return () => json;
  }

  /** `{#parts}` alone in a string is a number of JSON. */
  function jsonText(text: string): Maker<unknown> {
    const name = /^\{#([^{}]*)\}$/.exec(text)?.[1];
    if (name === undefined) {
      const template = new Template(text, scope(PLACEHOLDERS));
      return (values) => template.fill(values) ?? ABSENT;
    }
    const placeholder = placeholderOf(name, scope(['to', 'parts', 'encoding', 'validitySeconds']), text);
    return (values) => (placeholder === 'to' ? Number(values.to) : values[placeholder]);
  }
}

function urlMaker(text: string, inPath: TemplateScope, inQuery: TemplateScope): Maker<string> {
  const start = URL_START.exec(text)?.[0];
  if (start === undefined || text.includes('#') || /\s/.test(text)) {
    throw new Error(
      'must be an http or https URL, without credentials, fragment or placeholders in its host',
    );
  }
  const rest = text.slice(start.length);
  const question = rest.includes('?') ? rest.indexOf('?') : rest.length;
  const path = new Template(rest.slice(0, question), inPath);
  const query = new Template(rest.slice(question), inQuery);
  const make: Maker<string> = (values) =>
    start + (path.fill(values, percentEncoded) ?? '') + (query.fill(values, percentEncoded) ?? '');
  if (!URL.canParse(make(NO_MESSAGE))) throw new Error('must be a URL');
  return make;
}

function basicHeader(basic: RequestOptions['basic'], scope: TemplateScope): string {
  const [user, password] = [basic?.user ?? '', basic?.password ?? ''].map((text) =>
    new Template(text, scope).fill(NO_MESSAGE),
  );
  if (user?.includes(':')) throw new Error('a user name has no colon');
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

function pairsOf(
  fields: readonly { readonly name: string; readonly template: Template }[],
  values: PlaceholderValues,
): string {
  return fields
    .flatMap(({ name, template }) => {
      const value = template.fill(values);
      return value === null ? [] : [`${percentEncoded(name)}=${percentEncoded(value)}`];
    })
    .join('&');
}

/** A lone surrogate has no encoding, and becomes the replacement character. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\uFFFD'));
}

/** What a header cannot hold, line breaks above all, becomes a blank. */
function headerValue(text: string): string {
  return text.replace(/[^\t\x20-\x7E\x80-\xFF]/g, ' ');
}

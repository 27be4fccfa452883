import { performance } from 'node:perf_hooks';
import { nextRound } from '../../application/concurrency/next-round.ts';
import { RoundTime } from '../../application/concurrency/round-time.ts';
import type { CallbackContent, CallbackRequest } from '../../application/ports/provider-callback.ts';
import type { ProviderEvent } from '../../application/ports/provider-events.ts';
import { parseAttemptName } from '../../domain/chain/attempt-name.ts';
import type { DeliveryReceipt } from '../../domain/providers/delivery-receipt.ts';
import { reasonMask } from '../../domain/shared/secret-mask.ts';
import { equalDigests, type Hmac } from '../../domain/webhooks/signer.ts';
import { gatewayId, pointer, readJson, scalarText } from './document.ts';
import type { ReceiptOptions } from './gateway-settings.ts';
import { type Mistake, orMistake, under } from './mistake.ts';
import { NO_MESSAGE, type Secrets, Template } from './template.ts';

type Authorizer = (request: CallbackRequest, hmac: Hmac) => boolean;

/** Receipts in one request. */
export const RECEIPTS_MAX = 10_000;
/** How long the receipts of one gateway are read in one round of the event loop, in milliseconds. */
const RECEIPTS_READING_MS = 3;
const TOO_MANY = `A request has at most ${RECEIPTS_MAX} receipts`;

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Finds the receipts in a request of the gateway. */
export type ReceiptReader = (request: CallbackRequest, hmac: Hmac) => Promise<CallbackContent>;

/**
 * What reads the receipts; every mistake in the options goes to `mistake`, by its path in them. With `namesAttempts` they come
 * under ids of ours.
 */
export function receiptReader(
  options: ReceiptOptions,
  secrets: Secrets,
  mistake: Mistake,
  namesAttempts = false,
): ReceiptReader {
  const { method, from } = options;
  if (method === 'GET' && from !== 'query') mistake(['from'], 'a GET request has a query and no body');
  if (from !== 'json' && options.items !== undefined) mistake(['items'], 'only JSON holds a list');
  const isAuthorized = authorizer(options, secrets, under(mistake, 'authorization'));
  const itemsIn = listFinder(options.items, mistake);
  const eventIn = eventFinder(options, namesAttempts, reasonMask(secrets.values()), mistake);

  const roundTime = new RoundTime(
    () => RECEIPTS_READING_MS,
    () => performance.now(),
  );

  return async (request, hmac) => {
    if (!isAuthorized(request, hmac)) return { kind: 'forged' };
    if (request.method !== method) return { kind: 'unreadable', problem: `Receipts come by ${method}` };
    const document = documentOf(request, from);
    if (document === undefined) return { kind: 'unreadable', problem: 'The body is no JSON' };
    const items = itemsIn(document);
    if (items === null) return { kind: 'unreadable', problem: 'The list of receipts is missing' };
    if (items.length > RECEIPTS_MAX) return { kind: 'unreadable', problem: TOO_MANY };
    const events: ProviderEvent[] = [];
    let malformed = 0;
    for (const item of items) {
      while (!roundTime.isLeft()) await nextRound();
      const found = eventIn(item);
      if (found === 'malformed') malformed += 1;
      else if (found !== 'ignored') events.push(found);
    }
    return { kind: 'events', events, malformed };
  };
}

function listFinder(
  path: string | undefined,
  mistake: Mistake,
): (document: unknown) => readonly unknown[] | null {
  if (path === undefined) return (document) => [document];
  const find = orMistake(mistake, ['items'], () => pointer(path));
  return (document) => {
    const items = find?.(document);
    return Array.isArray(items) ? items : null;
  };
}

function eventFinder(
  options: ReceiptOptions,
  namesAttempts: boolean,
  masked: (text: string) => string,
  mistake: Mistake,
): (item: unknown) => ProviderEvent | 'malformed' | 'ignored' {
  const findId = orMistake(mistake, ['id'], () => pointer(options.id));
  const findStatus = orMistake(mistake, ['status'], () => pointer(options.status));
  const { reason } = options;
  const findReason = reason === undefined ? null : orMistake(mistake, ['reason'], () => pointer(reason));
  const states = new Map(Object.entries(options.states));
  return (item) => {
    const providerMessageId = gatewayId(findId?.(item));
    const status = scalarText(findStatus?.(item))?.trim();
    const state = status === undefined ? undefined : states.get(status);
    if (providerMessageId === null || status === undefined || state === undefined) return 'malformed';
    if (state === 'ignored') return 'ignored';
    const detail = [status, scalarText(findReason?.(item)) ?? ''].join(' ').trim();
    const receipt: DeliveryReceipt =
      state === 'failed'
        ? { kind: 'failed', reason: `The gateway reports ${masked(detail)}` }
        : { kind: state };
    const attempt = namesAttempts ? parseAttemptName(providerMessageId) : undefined;
    return { kind: 'receipt', receipt: { channel: 'sms', providerMessageId, receipt, attempt } };
  };
}

function documentOf({ query, body }: CallbackRequest, from: ReceiptOptions['from']): unknown {
  switch (from) {
    case 'query':
      return Object.fromEntries(query);
    case 'form':
      return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
    case 'json':
      return readJson(body.toString('utf8'));
    default:
      return from satisfies never;
  }
}

function authorizer(
  { authorization, method, from }: ReceiptOptions,
  secrets: Secrets,
  mistake: Mistake,
): Authorizer {
  const expect = (path: readonly PropertyKey[], text: string): string | null =>
    orMistake(mistake, path, () => {
      const template = new Template(text, { placeholders: [], secrets });
      if (!template.hasSecret) throw new Error('names no entry of secrets');
      return template.fill(NO_MESSAGE);
    });

  if ('query' in authorization) {
    const expected = expect(['value'], authorization.value);
    return ({ query }, hmac) => {
      const [given = null, second] = query.getAll(authorization.query);
      return second === undefined && isEqual(hmac, expected, given);
    };
  }
  if ('header' in authorization) {
    const expected = expect(['value'], authorization.value);
    return (request, hmac) => isEqual(hmac, expected, headerOf(request, authorization.header));
  }
  if ('basic' in authorization) {
    const { user, password } = authorization.basic;
    const expected = expect(['basic', 'password'], password);
    return (request, hmac) => {
      const given = BASIC.exec(headerOf(request, 'authorization') ?? '')?.[1];
      if (given === undefined || expected === null) return false;
      return isEqual(hmac, `${user}:${expected}`, Buffer.from(given, 'base64').toString('utf8'));
    };
  }
  const { header, secret, encoding, prefix } = authorization.hmac;
  if (method === 'GET') mistake(['hmac', 'over'], 'a GET request has no body to sign');
  else if (from === 'query') mistake(['hmac', 'over'], 'a signature of the body proves nothing of the query');
  const key = expect(['hmac', 'secret'], secret);
  return (request, hmac) => {
    const given = headerOf(request, header);
    if (key === null || given === null || !given.startsWith(prefix)) return false;
    const digest = given.slice(prefix.length);
    const expected = hmac({ text: key, encoding: 'utf8' }, [request.body], encoding);
    return equalDigests(expected, encoding === 'hex' ? digest.toLowerCase() : digest);
  };
}

/** Compares digests of both, so that the time tells nothing of the expected text or its length. */
function isEqual(hmac: Hmac, expected: string | null, given: string | null): boolean {
  if (expected === null || given === null) return false;
  const digest = (text: string): string => hmac({ text: expected, encoding: 'utf8' }, [text], 'hex');
  return equalDigests(digest(expected), digest(given));
}

/** A header that came once, or null. */
function headerOf({ headers }: CallbackRequest, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : null;
}

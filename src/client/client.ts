/** A typed client of the interface: `import { createBaridClient } from 'barid/client'`. It runs wherever `fetch` does. */

import { type ClientClock, jittered, systemClock } from './clock.ts';
import { ConnectionError, NotFoundError, RetryLaterError } from './errors.ts';
import type { BodyOf, KeyedPath, PlainPath, QueryOf, ReplyOf, RequestOf } from './operations.ts';
import { type FetchFunction, RETRIES, Requests, type RetrySettings } from './requests.ts';

export type { ClientClock } from './clock.ts';
export * from './errors.ts';
export type { components, operations, paths } from './openapi-types.ts';
export type { ErrorCode } from './operations.ts';
export type { FetchFunction, RetrySettings } from './requests.ts';

export type SendSms = BodyOf<'post', '/sms'>;
export type SentSms = ReplyOf<'post', '/sms'>;
export type TrackedSms = ReplyOf<'get', '/sms/track/{smsId}'>;

export interface BaridClientOptions {
  /** Where the service is: `https://barid.example`, with or without `/api`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** In place of the global `fetch`. */
  readonly fetch?: FetchFunction;
  /** How long one attempt of a request may take. */
  readonly timeoutMs?: number;
  readonly retries?: Partial<RetrySettings>;
  /** In place of the system's clock: a test moves its own. */
  readonly clock?: ClientClock;
}

export interface CallOptions {
  /** Ends the call: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** How long one attempt of this call may take. */
  readonly timeoutMs?: number | undefined;
}

export interface KeyedCallOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters; a random one when absent. An equal call with the same key happens once. */
  readonly idempotencyKey?: string | undefined;
}

/** What a download needs of a report. */
export type ReportLink = Pick<ReplyOf<'post', '/reports/generate'>, 'downloadUrl'>;

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the final status, or for a report. */
  readonly timeoutMs?: number | undefined;
}

/** How long one attempt of a request may take. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A code that a handset did not get within this time is of no use to its user. */
const FINAL_TIMEOUT_MS = 60_000;
/** The first polling interval; each one is longer than the one before. */
const POLL_FIRST_MS = 500;
const POLL_MAX_MS = 5_000;
const POLL_GROWTH = 1.5;
/** The last request before the end of a wait has at least this time. */
const POLL_TIMEOUT_MIN_MS = 1_000;

/** What a header may carry, with the prefix of a key. */
const API_KEY_PATTERN = /^[!-~]+$/;

/** The message had no final status in time; the message goes on, and can be waited for again. */
export class NotFinalError extends Error {
  /** The message as it was tracked last. */
  readonly tracked: TrackedSms;

  constructor(tracked: TrackedSms, timeoutMs: number) {
    super(`${tracked.smsId} is ${tracked.status}, and not final, after ${timeoutMs} ms`);
    this.name = new.target.name;
    this.tracked = tracked;
  }
}

/**
 * A client of the service at `baseUrl` for the project of `apiKey`. Throws `TypeError` for a URL or key that cannot be
 * used. Every call rejects with a `BaridError`, one class for each case of specification 7, or with the reason of its
 * own signal.
 *
 * Reads are repeated when no reply came, and when the service asks for it with a short `Retry-After`. Operations that take
 * an idempotency key are too, with one key for all attempts, so that they happen once. No other request is repeated.
 */
export function createBaridClient(options: BaridClientOptions): BaridClient {
  return new BaridClient(options);
}

export class BaridClient {
  readonly #requests: Requests;
  readonly #clock: ClientClock;
  readonly #timeoutMs: number;

  constructor(options: BaridClientOptions) {
    const { apiKey, timeoutMs = REQUEST_TIMEOUT_MS, retries, clock = systemClock } = options;
    if (!API_KEY_PATTERN.test(apiKey)) throw new TypeError('apiKey has characters that no key has');
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#requests = new Requests({
      baseUrl: baseUrlOf(options.baseUrl),
      apiKey,
      fetch: options.fetch ?? ((url, request) => fetch(url, request)),
      clock,
      retries: { ...RETRIES, ...retries },
    });
  }

  /** Sends one message to one phone number (specification 4.1). */
  sendSms(message: SendSms, options?: KeyedCallOptions): Promise<SentSms> {
    return this.#keyed('/sms', { body: message }, options);
  }

  /** Reads the delivery status of a message (specification 4.2). */
  trackSms(smsId: string, options?: CallOptions): Promise<TrackedSms> {
    return this.#plain('get', '/sms/track/{smsId}', { path: { smsId } }, options);
  }

  /** Reads the international prices of an sms, a page at a time (specification 4.3). */
  prices(query: QueryOf<'/international-sms-pricing'> = {}, options?: CallOptions) {
    return this.#plain('get', '/international-sms-pricing', { query }, options);
  }

  /** Generates a delivery report (specification 4.4). */
  generateReport(selection: BodyOf<'post', '/reports/generate'>, options?: KeyedCallOptions) {
    return this.#keyed('/reports/generate', { body: selection }, options);
  }

  /**
   * Resolves with the csv file of a report, waiting for it while it is being made: `generateReport` resolves after some
   * seconds also when that takes longer. Rejects with `NotFoundError` after `timeoutMs`, one minute when it is left out, and
   * with a `BaridError` of status 410 when the report is expired or deleted.
   */
  async downloadReport(report: ReportLink, options: WaitOptions = {}): Promise<string> {
    const { timeoutMs = FINAL_TIMEOUT_MS, signal } = options;
    const deadline = this.#clock.now() + timeoutMs;
    for (;;) {
      const restMs = deadline - this.#clock.now();
      try {
        return await this.#requests.download(report.downloadUrl, { timeoutMs: FINAL_TIMEOUT_MS, signal });
      } catch (error) {
        if (!(error instanceof NotFoundError) || restMs <= 0) throw error;
        await this.#clock.delay(Math.min(POLL_FIRST_MS, restMs), signal);
      }
    }
  }

  /** Reads the delivery reports, newest first (specification 4.5). */
  reports(query: QueryOf<'/reports'> = {}, options?: CallOptions) {
    return this.#plain('get', '/reports', { query }, options);
  }

  /** Reads the sender IDs of the project (specification 4.6). */
  senderIds(options?: CallOptions) {
    return this.#plain('get', '/sender-ids', {}, options);
  }

  /** Reads the name and the credit of the project (specification 4.7). */
  info(options?: CallOptions) {
    return this.#plain('get', '/info', {}, options);
  }

  /** Reads the whatsapp accounts, numbers and templates of the project (specification 4.8). */
  whatsappResources(query: QueryOf<'/whatsapp/resources'> = {}, options?: CallOptions) {
    return this.#plain('get', '/whatsapp/resources', { query }, options);
  }

  /** Reads the campaigns, newest first, a page at a time (specification 4.9). */
  campaigns(query: QueryOf<'/whatsapp/campaigns'> = {}, options?: CallOptions) {
    return this.#plain('get', '/whatsapp/campaigns', { query }, options);
  }

  /** Creates a campaign without recipients (specification 4.10). */
  createCampaign(campaign: BodyOf<'post', '/whatsapp/campaigns'>, options?: CallOptions) {
    return this.#plain('post', '/whatsapp/campaigns', { body: campaign }, options);
  }

  /** Changes a campaign that has not started (specification 4.11). */
  updateCampaign(_id: string, changes: BodyOf<'patch', '/whatsapp/campaigns/{_id}'>, options?: CallOptions) {
    return this.#plain('patch', '/whatsapp/campaigns/{_id}', { path: { _id }, body: changes }, options);
  }

  /** Reads a campaign with a page of its recipients (specification 4.12). */
  campaign(_id: string, query: QueryOf<'/whatsapp/campaigns/{_id}'> = {}, options?: CallOptions) {
    return this.#plain('get', '/whatsapp/campaigns/{_id}', { path: { _id }, query }, options);
  }

  /** Deletes a campaign that has not started (specification 4.13). */
  deleteCampaign(_id: string, options?: CallOptions) {
    return this.#plain('delete', '/whatsapp/campaigns/{_id}', { path: { _id } }, options);
  }

  /** Starts a draft by hand (specification 4.14). */
  startCampaign(_id: string, options?: KeyedCallOptions) {
    return this.#keyed('/whatsapp/campaigns/{_id}/start', { path: { _id } }, options);
  }

  /** Creates and starts a sample of a campaign (specification 4.15). */
  sampleCampaign(
    _id: string,
    sample: BodyOf<'post', '/whatsapp/campaigns/{_id}/sample'>,
    options?: KeyedCallOptions,
  ) {
    return this.#keyed('/whatsapp/campaigns/{_id}/sample', { path: { _id }, body: sample }, options);
  }

  /** Appends recipients to a campaign that has not started (specification 4.16). */
  attachRecipients(
    _id: string,
    recipients: BodyOf<'post', '/whatsapp/campaigns/{_id}/recipients'>,
    options?: KeyedCallOptions,
  ) {
    return this.#keyed('/whatsapp/campaigns/{_id}/recipients', { path: { _id }, body: recipients }, options);
  }

  /** Reads which parameters a template takes, with an example (specification 4.17). */
  recipientPayload(query: QueryOf<'/whatsapp/campaigns/recipient-payload'>, options?: CallOptions) {
    return this.#plain('get', '/whatsapp/campaigns/recipient-payload', { query }, options);
  }

  /** Tells whether a campaign could start now, and what it would cost (docs/api.md, section 4.18). */
  preflightCampaign(_id: string, options?: CallOptions) {
    return this.#plain('post', '/whatsapp/campaigns/{_id}/preflight', { path: { _id } }, options);
  }

  /**
   * Resolves with the message once its status is final. Rejects with `NotFinalError` after `timeoutMs`, one minute when
   * it is left out. A service that is away or busy meanwhile does not end the wait.
   */
  async waitUntilFinal(smsId: string, options: WaitOptions = {}): Promise<TrackedSms> {
    const { timeoutMs = FINAL_TIMEOUT_MS, signal } = options;
    const deadline = this.#clock.now() + timeoutMs;
    for (let intervalMs = POLL_FIRST_MS; ; intervalMs = Math.min(intervalMs * POLL_GROWTH, POLL_MAX_MS)) {
      const leftMs = Math.max(deadline - this.#clock.now(), POLL_TIMEOUT_MIN_MS);
      const call = { signal, timeoutMs: Math.min(leftMs, this.#timeoutMs) };
      const tracked = await this.trackSms(smsId, call).catch(passing);
      if (!(tracked instanceof Error) && tracked.isFinalStatus) return tracked;
      const restMs = deadline - this.#clock.now();
      if (restMs <= 0) throw tracked instanceof Error ? tracked : new NotFinalError(tracked, timeoutMs);
      await this.#clock.delay(Math.min(jittered(intervalMs), restMs), signal);
    }
  }

  /** A call with an idempotency key: its own, or a random one that all its attempts share. */
  #keyed<P extends KeyedPath>(
    path: P,
    request: RequestOf<'post', P>,
    { idempotencyKey = crypto.randomUUID(), ...options }: KeyedCallOptions = {},
  ): Promise<ReplyOf<'post', P>> {
    return this.#send('POST', path, request, idempotencyKey, options) as Promise<ReplyOf<'post', P>>;
  }

  /** A call of an operation that takes no idempotency key. */
  #plain<M extends 'get' | 'post' | 'patch' | 'delete', P extends PlainPath<M>>(
    method: M,
    path: P,
    request: RequestOf<M, P>,
    options: CallOptions = {},
  ): Promise<ReplyOf<M, P>> {
    return this.#send(method.toUpperCase(), path, request, null, options) as Promise<ReplyOf<M, P>>;
  }

  #send(
    method: string,
    template: string,
    request: object,
    idempotencyKey: string | null,
    { signal, timeoutMs = this.#timeoutMs }: CallOptions,
  ): Promise<unknown> {
    const { path: parameters = {}, query = {}, body }: GivenRequest = request;
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(parameters[name])));
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    return this.#requests.send({
      method,
      path: given.length === 0 ? path : `${path}?${search}`,
      body,
      idempotencyKey,
      timeoutMs,
      signal,
    });
  }
}

/** What the types of operations come to at run time. */
interface GivenRequest {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** An error that may be over at the next request; throws every other one. */
function passing(error: unknown): ConnectionError | RetryLaterError {
  if (error instanceof ConnectionError || error instanceof RetryLaterError) return error;
  throw error;
}

/** `fetch` rejects credentials in a URL with an error that shows them, so they are rejected here. */
function baseUrlOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  const isUsable =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isUsable || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must be an http or https URL without credentials, query and fragment');
  }
  return url.href.replace(/\/+$/, '');
}

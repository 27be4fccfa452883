import { type ClientClock, jittered } from './clock.ts';
import { type BaridError, ConnectionError, type ErrorDetails, errorOf, RetryLaterError } from './errors.ts';

/** The part of `fetch` that the client needs. */
export type FetchFunction = (
  url: string,
  request: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** How requests are repeated. Only reads, and requests with an idempotency key, are ever repeated. */
export interface RetrySettings {
  /** How often one call is tried, the first attempt included. */
  readonly attemptsMax: number;
  /** The wait after the first attempt without a reply; it doubles, and is shortened by up to a half by chance. */
  readonly firstDelayMs: number;
  /** The longest wait between two attempts. A `Retry-After` that is longer ends the call with its error. */
  readonly delayMaxMs: number;
}

export const RETRIES: RetrySettings = { attemptsMax: 3, firstDelayMs: 250, delayMaxMs: 5_000 };

export interface RequestSettings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: FetchFunction;
  readonly clock: ClientClock;
  readonly retries: RetrySettings;
}

export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  /** What is sent as JSON. */
  readonly body?: unknown;
  /** Set when the operation takes one. */
  readonly idempotencyKey: string | null;
  /** For each attempt. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Makes requests to one service with one API key, and repeats those that may be repeated. */
export class Requests {
  readonly #settings: RequestSettings;

  constructor(settings: RequestSettings) {
    this.#settings = settings;
  }

  /** Resolves with the body of the reply. Rejects with a `BaridError`, or the reason of the caller's own signal. */
  async send(request: ClientRequest): Promise<unknown> {
    const { clock, retries } = this.#settings;
    const isRepeatable = request.method === 'GET' || request.idempotencyKey !== null;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(request);
      if (!('error' in outcome)) return outcome.body;
      const delayMs =
        isRepeatable && attempt < retries.attemptsMax ? this.#delayMs(outcome.error, attempt) : null;
      if (delayMs === null) throw outcome.error;
      await clock.delay(delayMs, request.signal);
    }
  }

  /** Resolves with the text behind a link, which gets no key. Rejects as `send` does. */
  async download(url: string, options: Pick<ClientRequest, 'timeoutMs' | 'signal'>): Promise<string> {
    const { pathname: path } = new URL(url);
    const request = { method: 'GET', path, body: undefined, idempotencyKey: null, ...options };
    const outcome = await this.#exchange(request, url, {}, ({ status, headers }, text) =>
      status === 200 ? { body: text } : this.#outcomeOf(request, status, headers, parsed(text)),
    );
    if ('error' in outcome) throw outcome.error;
    return outcome.body as string;
  }

  /** How long to wait before the call is tried again; null when that would not help, or take too long. */
  #delayMs(error: BaridError, attempt: number): number | null {
    const { firstDelayMs, delayMaxMs } = this.#settings.retries;
    if (error instanceof ConnectionError)
      return jittered(Math.min(firstDelayMs * 2 ** (attempt - 1), delayMaxMs));
    const isLater = error instanceof RetryLaterError && error.retryAfterMs !== null;
    if (!isLater || error.retryAfterMs > delayMaxMs) return null;
    // Never sooner than the service asks for.
    return error.retryAfterMs + jittered(firstDelayMs);
  }

  #attempt(request: ClientRequest): Promise<Outcome> {
    const { baseUrl, apiKey } = this.#settings;
    const { path, body, idempotencyKey } = request;
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
    };
    return this.#exchange(request, `${baseUrl}${path}`, headers, ({ status, headers: replied }, text) =>
      this.#outcomeOf(request, status, replied, parsed(this.#withoutKey(text))),
    );
  }

  async #exchange(
    request: ClientRequest,
    url: string,
    headers: Readonly<Record<string, string>>,
    outcomeOf: (reply: Replied, text: string) => Outcome,
  ): Promise<Outcome> {
    const { method, body, timeoutMs, signal } = request;
    signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const reply = await this.#settings.fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      });
      return outcomeOf(reply, await reply.text());
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = timeout.aborted
        ? `no whole reply within ${timeoutMs} ms`
        : `no whole reply: ${reasonOf(cause)}`;
      return { error: new ConnectionError({ ...this.#detailsOf(request, reason), cause }) };
    }
  }

  #outcomeOf(
    request: ClientRequest,
    status: number,
    headers: { get(name: string): string | null },
    text: Parsed,
  ): Outcome {
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && text.isJson) return { body: text.body };
    const what = isSuccess ? 'the reply is no JSON' : textOf(text.body);
    return {
      error: errorOf({
        ...this.#detailsOf(request, `${status} ${what}`.trimEnd()),
        status,
        code: headers.get('x-error-code'),
        body: text.body,
        requestId: headers.get('x-request-id'),
        retryAfter: headers.get('retry-after'),
      }),
    };
  }

  /** No error may show the key, whatever was replied. */
  #withoutKey(text: string): string {
    return text.replaceAll(this.#settings.apiKey, '***');
  }

  /** The message names the request and what happened. */
  #detailsOf({ method, path, idempotencyKey }: ClientRequest, what: string): ErrorDetails {
    const message = this.#withoutKey(`${method} ${path}: ${what}`);
    return {
      message,
      status: null,
      code: null,
      body: null,
      requestId: null,
      retryAfter: null,
      idempotencyKey,
    };
  }
}

type Outcome = { readonly body: unknown } | { readonly error: BaridError };

/** The head of a reply, as `fetch` has it. */
interface Replied {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

interface Parsed {
  readonly isJson: boolean;
  /** The text itself when it is not JSON. */
  readonly body: unknown;
}

function parsed(text: string): Parsed {
  try {
    return { isJson: true, body: JSON.parse(text) };
  } catch {
    return { isJson: false, body: text };
  }
}

/** Specification 7: what can be changed stands in `error`, everything else in `message`. */
function textOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return '';
  const { error, message } = body as { readonly error?: unknown; readonly message?: unknown };
  return [error, message].find((text) => typeof text === 'string') ?? '';
}

/** The code of the system, such as ECONNREFUSED, is in the cause of what `fetch` throws. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'the connection failed';
  const { cause } = thrown;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return thrown.message;
}

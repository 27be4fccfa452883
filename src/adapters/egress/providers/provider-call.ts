import { clearTimeout, setTimeout } from 'node:timers';
import type { Dispatcher } from 'undici';
import { BodyPieces, RESPONSE_PIECES } from '../../../application/body-pieces.ts';
import { codeOrName } from '../../../application/errors/error-text.ts';
import { GrowingBuffer } from '../../../application/growing-buffer.ts';
import { WAITED_TOO_LONG_REASON } from '../../../application/ports/channel-provider.ts';
import {
  PROVIDER_RESPONSE_BYTES_MAX,
  type ProviderRequest,
  type ProviderResponse,
} from '../../../application/ports/provider-http.ts';
import type { Backlog } from '../../../domain/jobs/fair-share.ts';
import { INSTALLATION } from '../../../domain/jobs/job.ts';

/** More responses below 200 before the one that counts are a flood: they have no body that could be counted. */
const INFORMATIONAL_RESPONSES_MAX = 10;

const USER_AGENT = 'Barid/1.0';
const HOUSEKEEPING: Backlog = { priority: 'housekeeping', projectId: INSTALLATION };

/** `timeoutMs`: of the request, the wait for a connection included; `waitMs`: of the wait while others have the connections. */
export type CallDeadlines = Readonly<Record<'timeoutMs' | 'waitMs', number>>;

/** How a call goes out. */
interface Flight {
  readonly isLastOnConnection: boolean;
  readonly endOfFlight: () => void;
}

/** One of `settle` and `responded` is called, once. */
interface CallEvents {
  readonly settle: (response: ProviderResponse) => void;
  /** A connection that was to be used again ended before anything of a response came; called before `settle`. */
  readonly brokenOff: () => void;
  /** The whole response came; it is read with `read` when there is time. */
  readonly responded: (read: () => ProviderResponse) => void;
}

/** One request and its response under one deadline. */
export class ProviderCall implements Dispatcher.DispatchHandler {
  readonly #request: ProviderRequest;
  readonly #timeoutMs: number;
  readonly #events: CallEvents;
  readonly #deadline: NodeJS.Timeout;
  readonly #waitDeadline: NodeJS.Timeout;
  readonly #bytesMax: number;
  readonly #body: GrowingBuffer;
  readonly #pieces = new BodyPieces(RESPONSE_PIECES);
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #informational = 0;
  #endOfFlight: (() => void) | null = null;
  #isLastOnConnection = false;
  #isSettled = false;

  constructor(request: ProviderRequest, { timeoutMs, waitMs }: CallDeadlines, events: CallEvents) {
    this.#request = request;
    this.#bytesMax = request.responseBytesMax ?? PROVIDER_RESPONSE_BYTES_MAX;
    this.#body = new GrowingBuffer(this.#bytesMax);
    this.#timeoutMs = timeoutMs;
    this.#events = events;
    this.#deadline = setTimeout(() => this.#giveUp(), timeoutMs);
    this.#waitDeadline = setTimeout(
      () => this.#settle({ kind: 'limited', reason: WAITED_TOO_LONG_REASON }),
      waitMs,
    );
  }

  get backlog(): Backlog {
    return this.#request.backlog ?? HOUSEKEEPING;
  }

  /** Null while it waits for others. */
  get endOfFlight(): (() => void) | null {
    return this.#endOfFlight;
  }

  /** It is in flight until `endOfFlight` is called. */
  dispatch(agent: Dispatcher, { isLastOnConnection, endOfFlight }: Flight): void {
    this.#endOfFlight = endOfFlight;
    this.#isLastOnConnection = isLastOnConnection;
    clearTimeout(this.#waitDeadline);
    try {
      agent.dispatch(optionsOf(this.#request, isLastOnConnection), this);
    } catch (error) {
      this.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** A connection is there, and the request goes out on it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error('The request came too late'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) {
      this.#status = status;
      return;
    }
    this.#informational += 1;
    if (this.#informational <= INFORMATIONAL_RESPONSES_MAX) return;
    this.#end({
      kind: 'unclear',
      reason: `More than ${INFORMATIONAL_RESPONSES_MAX} informational responses`,
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#pieces.add(chunk.length)) {
      this.#end({ kind: 'unclear', reason: 'The response comes in too many small pieces' });
    } else if (!this.#body.add(chunk)) {
      this.#end({ kind: 'unclear', reason: `The response has more than ${this.#bytesMax} bytes` });
    }
  }

  onResponseEnd(): void {
    if (!this.#takeEnd()) return;
    this.#events.responded(() => {
      const body = this.#body.bytes().toString('utf8');
      return { kind: 'responded', status: this.#status, body };
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const reason = `The connection failed: ${codeOrName(error)}`;
    const isBrokenOff =
      this.#controller !== null &&
      !this.#isLastOnConnection &&
      this.#status === 0 &&
      this.#informational === 0;
    if (isBrokenOff && !this.#isSettled) this.#events.brokenOff();
    this.#settle({ kind: this.#controller === null ? 'not-sent' : 'unclear', reason });
  }

  #giveUp(): void {
    const kind = this.#controller === null ? 'not-sent' : 'unclear';
    this.#end({ kind, reason: `No response within ${this.#timeoutMs} ms` });
  }

  /** Something may still be on its way on the connection: it is closed. */
  #end(response: ProviderResponse): void {
    this.#settle(response);
    this.#controller?.abort(new Error('The request has ended'));
  }

  #settle(response: ProviderResponse): void {
    if (this.#takeEnd()) this.#events.settle(response);
  }

  /** False when its end was taken before. */
  #takeEnd(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#waitDeadline);
    return true;
  }
}

function optionsOf(
  { method, url, headers = {}, body }: ProviderRequest,
  isLastOnConnection: boolean,
): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  return {
    origin,
    path: `${pathname}${search}`,
    method,
    headers: { 'user-agent': USER_AGENT, ...headers },
    body: body ?? null,
    // Undici repeats an idempotent request on a broken connection: the other side may have acted on the first.
    idempotent: false,
    // Without it undici decides by the method.
    ...(isLastOnConnection ? { reset: true } : {}),
  };
}

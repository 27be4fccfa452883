import { MinuteLog } from '../../application/minute-log.ts';
import type {
  ChannelProvider,
  ProviderCheck,
  ProviderHealth,
  Submission,
} from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import {
  isSuccessStatus,
  type ProviderHttp,
  type ProviderResponse,
  TOO_MANY_REQUESTS,
} from '../../application/ports/provider-http.ts';
import { attemptName } from '../../domain/chain/attempt-name.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';
import { type RequestMaker, type SendingOptions, valuesOf } from './gateway-request.ts';
import { CREDENTIALS_REJECTED, type ResponseReader } from './gateway-response.ts';
import { NO_MESSAGE } from './template.ts';

/** A request that sends no message, and the statuses that say that the credentials are good. */
export interface GatewayCheck {
  readonly request: RequestMaker;
  /** 200 to 299 when null. */
  readonly status: readonly number[] | null;
}

interface HttpGatewayProviderOptions {
  readonly name: string;
  readonly http: ProviderHttp;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sending: SendingOptions;
  readonly request: RequestMaker;
  readonly response: ResponseReader;
  /** Null when nothing can be asked of the gateway without sending a message. */
  readonly check: GatewayCheck | null;
}

const UNTRIED = 'its settings have no check request, so the first message tells whether it works';

const REJECTING_STATUSES: readonly number[] = [...CREDENTIALS_REJECTED, TOO_MANY_REQUESTS];

/**
 * The sms gateway behind an HTTP interface that a configuration describes. Each submission is one request. Receipts come by
 * `HttpGatewayCallback`; this class brings none.
 */
export class HttpGatewayProvider implements ChannelProvider {
  readonly name: string;
  readonly #options: HttpGatewayProviderOptions;
  readonly #log: MinuteLog;
  #health: ProviderHealth = { ok: true, detail: 'not used since the start' };

  constructor(options: HttpGatewayProviderOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = new MinuteLog(options);
  }

  /** The sink is not used: receipts come by HTTP, to any process. */
  async start(): Promise<void> {}

  async submit(submission: Submission): Promise<SubmitResult> {
    const { http, request, response: read, sending } = this.#options;
    const attempt = attemptName(submission);
    const response = await http.send({
      ...request(valuesOf(submission, sending)),
      backlog: submission,
    });
    const result = read(response, attempt);
    http.noteResult(submission.projectId, response, result);
    if (response.kind !== 'limited') this.#health = healthAfter(response);
    if (response.kind === 'responded' && CREDENTIALS_REJECTED.includes(response.status))
      this.#log.warn('provider_credentials_rejected', { provider: this.name, code: response.status });
    return result;
  }

  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#options.http.whenHandedOver(listener);
  }

  capacity(backlog: Backlog): ProviderCapacity {
    return this.#options.http.capacity(backlog);
  }

  /** By the last request; a gateway that was away is tried again with each message. */
  health(): ProviderHealth {
    return this.#health;
  }

  async check(): Promise<ProviderCheck> {
    const { check, http } = this.#options;
    if (check === null) return { ok: true, isUntried: true, detail: UNTRIED };
    const response = await http.send(check.request(NO_MESSAGE));
    if (response.kind !== 'responded') return { ok: false, detail: unreachable(response) };
    const { status } = response;
    const ok = check.status === null ? isSuccessStatus(status) : check.status.includes(status);
    return { ok, detail: `responded to the check with HTTP ${status}` };
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }
}

function healthAfter(response: ProviderResponse): ProviderHealth {
  if (response.kind !== 'responded') return { ok: false, detail: unreachable(response) };
  const { status } = response;
  // A redirect is not followed, so behind it no message is taken.
  const isRedirect = status >= 300 && status < 400;
  const ok = !isRedirect && status < 500 && !REJECTING_STATUSES.includes(status);
  return { ok, detail: `the last response had HTTP ${status}` };
}

function unreachable({ kind, reason }: Exclude<ProviderResponse, { kind: 'responded' }>): string {
  return kind !== 'unclear' ? `cannot be reached: ${reason}` : `the last request got no response: ${reason}`;
}

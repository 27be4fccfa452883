import { MinuteLog } from '../../application/minute-log.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { GatewayResponse, TelegramClient } from './telegram-client.ts';

/** Revocations in flight at a time: submissions keep most of the connections. */
export const REVOCATIONS_IN_FLIGHT_MAX = 8;

/** Revocations that wait; what comes beyond is not revoked. */
export const REVOCATIONS_WAITING_MAX = 1_000;

/** A revocation that waited longer is dropped, in milliseconds: Telegram is away, and a process that stops waits for it. */
export const REVOCATION_WAIT_MAX_MS = 10_000;

interface RevocationPorts {
  /** The name of the provider. */
  readonly name: string;
  readonly client: TelegramClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Waiting {
  readonly requestId: string;
  readonly since: number;
}

/** Takes messages back that nobody waits for any more, a few at a time. A failure is logged and changes nothing. */
export class Revocations {
  readonly #ports: RevocationPorts;
  readonly #waiting: Waiting[] = [];
  readonly #log: MinuteLog;
  #workers = 0;

  constructor(ports: RevocationPorts) {
    this.#ports = ports;
    this.#log = new MinuteLog(ports);
  }

  /** Resolves when the requests are revoked or given up, or when earlier calls do the rest. Never rejects. */
  async execute(requestIds: readonly string[]): Promise<void> {
    const capacity = REVOCATIONS_WAITING_MAX - this.#waiting.length;
    const since = this.#ports.clock.now();
    const taken = requestIds.slice(0, capacity);
    this.#waiting.push(...taken.map((requestId) => ({ requestId, since })));
    if (requestIds.length > capacity) this.#fail('Too many revocations wait', requestIds.length - capacity);
    const workers = Math.min(taken.length, REVOCATIONS_IN_FLIGHT_MAX - this.#workers);
    await Promise.all(Array.from({ length: workers }, () => this.#work()));
  }

  /** Gives up what waits. */
  close(): void {
    this.#waiting.length = 0;
  }

  async #work(): Promise<void> {
    this.#workers += 1;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#revoke(next);
    }
    this.#workers -= 1;
  }

  async #revoke({ requestId, since }: Waiting): Promise<void> {
    const { client, clock } = this.#ports;
    if (clock.now() - since > REVOCATION_WAIT_MAX_MS) {
      this.#fail('The revocation waited too long', 1);
      return;
    }
    const response = await client.call('revokeVerificationMessage', { request_id: requestId });
    const failure = failureOf(response);
    if (failure !== null) this.#fail(failure, 1);
  }

  #fail(reason: string, count: number): void {
    this.#log.warn('provider_revocation_failed', { provider: this.#ports.name, reason }, count);
  }
}

/** Why a message was not revoked; null when Telegram takes the request. */
function failureOf(response: GatewayResponse): string | null {
  switch (response.kind) {
    case 'done':
      return response.result === true ? null : 'Telegram responded without a clear result';
    case 'error':
      return response.code;
    case 'not-sent':
    case 'limited':
    case 'unclear':
      return response.reason;
    default:
      return response satisfies never;
  }
}

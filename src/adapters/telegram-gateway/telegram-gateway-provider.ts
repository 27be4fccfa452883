import { millisecondsInSecond } from 'date-fns/constants';
import { keepNewest } from '../../application/keep-newest.ts';
import { MinuteLog } from '../../application/minute-log.ts';
import type {
  ChannelProvider,
  ProviderHealth,
  Submission,
} from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { ProviderHttp } from '../../application/ports/provider-http.ts';
import { attemptName } from '../../domain/chain/attempt-name.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import { canCarry } from '../../domain/messages/send-request.ts';
import type { ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import {
  isForLater,
  rejectedAs,
  type SubmitResult,
  unknownResult,
} from '../../domain/providers/submit-result.ts';
import { isFor, takenRequest } from './request-status.ts';
import { Revocations } from './revocations.ts';
import { type GatewayParameters, type GatewayResponse, TelegramClient } from './telegram-client.ts';
import { CREDENTIALS_CODES, errorClass, rejectedBy } from './telegram-errors.ts';

/** How long Telegram can be told to try a message, in seconds. */
const TTL_MIN_S = 30;
const TTL_MAX_S = 3_600;

/** Requests kept for another try, in number: beyond it the oldest is forgotten, and its attempt pays again. */
const ABLE_REQUESTS_MAX = 10_000;

/** No request of anybody: asking for it tells whether the token is good, sends nothing and costs nothing. */
const MADE_UP_REQUEST_ID = '0';

/** An error about the id of a request comes after the token was taken. */
const REQUEST_ID_ERROR_PREFIX = 'REQUEST_ID_';

/** A response too many on the connection makes each later one that of the request before. */
const OTHER_REQUEST = 'Telegram responded to another request';
const UNREADABLE_RESULT = 'Telegram took the message and named no id that can be read';

interface TelegramGatewayOptions {
  /** Its name in the configuration. */
  readonly name: string;
  readonly http: ProviderHttp;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly token: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** The verified channel of Telegram that codes come from; null for Telegram's own. */
  readonly senderUsername: string | null;
  /** Where Telegram sends its reports; null for no reports. */
  readonly callbackUrl: string | null;
  /** Whether Telegram is asked first if it can reach the number. It takes its fee for that, and none for the code then. */
  readonly checkSendAbility: boolean;
}

/**
 * Carries verification codes over the Telegram Gateway. Receipts come through `TelegramGatewayCallback`. A code whose request
 * had an unclear end has no id, unless the ability to send was checked first; its receipts find it by the name of the attempt.
 */
export class TelegramGatewayProvider implements ChannelProvider {
  readonly name: string;
  readonly #options: TelegramGatewayOptions;
  readonly #client: TelegramClient;
  readonly #revocations: Revocations;
  readonly #log: MinuteLog;
  /** By attempt, the request whose fee is paid while its message was not taken yet: a later try goes under it, free. */
  readonly #ableRequests = new Map<string, string>();
  #health: ProviderHealth = { ok: true, detail: 'Telegram Gateway, nothing sent yet' };

  constructor(options: TelegramGatewayOptions) {
    const { name, http, baseUrl, token, clock, logger } = options;
    this.name = name;
    this.#options = options;
    this.#client = new TelegramClient({ http, baseUrl, token });
    this.#log = new MinuteLog({ clock, logger });
    this.#revocations = new Revocations({ name, client: this.#client, clock, logger });
  }

  /** There is no connection to open. */
  async start(): Promise<void> {}

  async submit(submission: Submission): Promise<SubmitResult> {
    const { content } = submission;
    if (content.smsType !== 'verification' || !canCarry('telegram', content)) {
      return rejectedAs('message', 'Telegram carries codes of 4 to 8 digits only');
    }
    const message = this.#parametersOf(submission, content.verificationCode);
    return this.#options.checkSendAbility
      ? this.#sendIfAble(submission, message)
      : this.#send(submission, message, []);
  }

  revoke(providerMessageIds: readonly string[]): Promise<void> {
    return this.#revocations.execute(providerMessageIds);
  }

  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#client.whenHandedOver(listener);
  }

  capacity(backlog: Backlog): ProviderCapacity {
    return this.#client.capacity(backlog);
  }

  /** As the last request ended. */
  health(): ProviderHealth {
    return this.#health;
  }

  /**
   * Asks for the status of a request that does not exist. `ACCESS_TOKEN_INVALID` is published, and says that the token is not
   * good; that an error about the id means a good one was seen, and is not published. Any other error leaves it open.
   */
  async check(): Promise<ProviderHealth> {
    const response = await this.#client.call('checkVerificationStatus', { request_id: MADE_UP_REQUEST_ID });
    if (response.kind === 'done') return { ok: true, detail: 'Telegram takes the token' };
    if (response.kind !== 'error') return { ok: false, detail: response.reason };
    return response.code.startsWith(REQUEST_ID_ERROR_PREFIX)
      ? { ok: true, detail: 'Telegram takes the token' }
      : { ok: false, detail: `Telegram responded with ${response.code}` };
  }

  close(): Promise<void> {
    this.#revocations.close();
    return this.#client.close();
  }

  async #sendIfAble(submission: Submission, message: GatewayParameters): Promise<SubmitResult> {
    const attempt = attemptName(submission);
    const requestId = this.#ableRequests.get(attempt) ?? (await this.#askAbility(submission));
    if (typeof requestId !== 'string') return requestId;
    this.#ableRequests.delete(attempt);
    const result = await this.#send(submission, { ...message, request_id: requestId }, [requestId]);
    if (isForLater(result)) this.#keepForLater(attempt, requestId);
    return result;
  }

  /** The id of the request that Telegram can send, or why there is none. Whatever became of it, no message was sent. */
  async #askAbility(submission: Submission): Promise<string | SubmitResult> {
    const parameters = { phone_number: `+${submission.phoneNumber}` };
    const ability = await this.#call('checkSendAbility', parameters, submission);
    if (ability.kind === 'error') return rejectedBy(ability.code);
    if (ability.kind !== 'done') return rejectedAs(causeOf(ability), ability.reason);
    const request = takenRequest.safeParse(ability.result).data;
    if (request === undefined) return rejectedAs('busy', 'Telegram said without an id that it can send');
    return isFor(request, { submission }) ? request.request_id : rejectedAs('busy', OTHER_REQUEST);
  }

  #keepForLater(attempt: string, requestId: string): void {
    this.#ableRequests.set(attempt, requestId);
    keepNewest(this.#ableRequests, ABLE_REQUESTS_MAX);
  }

  /** `knownIds`: the id under which the message goes, when Telegram named it before. */
  async #send(
    submission: Submission,
    message: GatewayParameters,
    knownIds: readonly string[],
  ): Promise<SubmitResult> {
    const response = await this.#call('sendVerificationMessage', message, submission);
    switch (response.kind) {
      case 'done': {
        const request = takenRequest.safeParse(response.result).data;
        if (request === undefined) return unknownResult(UNREADABLE_RESULT, knownIds);
        return isFor(request, { submission, requestId: knownIds[0] })
          ? { kind: 'accepted', providerMessageIds: [request.request_id] }
          : unknownResult(OTHER_REQUEST, knownIds);
      }
      case 'error':
        return errorClass(response.code) === 'already-sent'
          ? unknownResult(`Telegram responded with ${response.code}`, knownIds)
          : rejectedBy(response.code);
      case 'not-sent':
      case 'limited':
        return rejectedAs(causeOf(response), response.reason);
      case 'unclear':
        return unknownResult(response.reason, knownIds);
      default:
        return response satisfies never;
    }
  }

  async #call(
    method: 'checkSendAbility' | 'sendVerificationMessage',
    parameters: GatewayParameters,
    backlog: Backlog,
  ): Promise<GatewayResponse> {
    const response = await this.#client.call(method, parameters, backlog);
    if (response.kind !== 'limited') this.#health = healthAfter(response);
    if (response.kind === 'error' && CREDENTIALS_CODES.has(response.code))
      this.#log.warn('provider_credentials_rejected', { provider: this.name, code: response.code });
    return response;
  }

  #parametersOf(submission: Submission, code: string): GatewayParameters {
    const { senderUsername, callbackUrl } = this.#options;
    const { phoneNumber, attemptTimeoutMs } = submission;
    return {
      phone_number: `+${phoneNumber}`,
      code,
      ttl: ttlSeconds(attemptTimeoutMs),
      payload: attemptName(submission),
      ...(senderUsername === null ? {} : { sender_username: senderUsername }),
      ...(callbackUrl === null ? {} : { callback_url: callbackUrl }),
    };
  }
}

/** Whole seconds that end with the attempt, as far as Telegram takes them. */
function ttlSeconds(attemptTimeoutMs: number): number {
  const seconds = Math.floor(attemptTimeoutMs / millisecondsInSecond);
  return Math.min(Math.max(seconds, TTL_MIN_S), TTL_MAX_S);
}

function causeOf({ kind }: GatewayResponse): 'busy' | 'limited' {
  return kind === 'limited' ? kind : 'busy';
}

function healthAfter(response: Exclude<GatewayResponse, { kind: 'limited' }>): ProviderHealth {
  if (response.kind === 'not-sent' || response.kind === 'unclear')
    return { ok: false, detail: response.reason };
  if (response.kind === 'done') return { ok: true, detail: 'Telegram Gateway took the last request' };
  const kind = errorClass(response.code);
  const detail = `Telegram responded with ${response.code}`;
  return { ok: kind !== 'busy' && kind !== 'throttled' && kind !== 'sender', detail };
}

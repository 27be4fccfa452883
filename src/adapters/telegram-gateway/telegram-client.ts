import { z } from 'zod';
import {
  isSuccessStatus,
  isUnclearStatus,
  PROVIDER_RESPONSE_MEMBERS_MAX,
  type ProviderHttp,
  type ProviderResponse,
  TOO_MANY_REQUESTS,
} from '../../application/ports/provider-http.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';
import { limitedJsonOf } from '../../domain/shared/json-text.ts';
import { isKnownError, rejectedBy } from './telegram-errors.ts';

/**
 * What became of a call. `done`: Telegram did it. `error`: Telegram did not do it, for the reason of `code`. `not-sent`,
 * `limited` and `unclear` are those of `ProviderResponse`; a response that cannot be read is `unclear` too.
 */
export type GatewayResponse =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: string }
  | { readonly kind: 'not-sent'; readonly reason: string }
  | { readonly kind: 'limited'; readonly reason: string }
  | { readonly kind: 'unclear'; readonly reason: string };

/** The methods of the gateway that this service calls. */
export type GatewayMethod =
  | 'sendVerificationMessage'
  | 'checkSendAbility'
  | 'checkVerificationStatus'
  | 'revokeVerificationMessage';

export type GatewayParameters = Readonly<Record<string, string | number>>;

interface ClientOptions {
  readonly http: ProviderHttp;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: string;
}

/** Begins the code of an error that HTTP itself tells, in a response without a known code. */
const HTTP_ERROR_PREFIX = 'HTTP_';

/** The code of an error whose own text is none: the text may quote the request. */
const UNNAMED_ERROR = 'UNNAMED_ERROR';

/** Statuses by which a server, or a proxy before it, says that it did nothing. */
const NOTHING_DONE_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, TOO_MANY_REQUESTS]);

const ERROR_CODE_PATTERN = /^[A-Z][A-Z0-9_]{0,63}$/;

const RESPONSE = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.unknown() }),
]);

/** Calls the methods of the Telegram Gateway, and reads its responses. */
export class TelegramClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Never rejects. `backlog` is the one of the message that is submitted. */
  async call(
    method: GatewayMethod,
    parameters: GatewayParameters,
    backlog?: Backlog,
  ): Promise<GatewayResponse> {
    const { http, baseUrl, token } = this.#options;
    const response = await http.send({
      method: 'POST',
      url: `${baseUrl}/${method}`,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify(parameters),
      ...(backlog === undefined ? {} : { backlog }),
    });
    const read = readResponse(response);
    const result = resultOf(read);
    if (backlog !== undefined && result !== null) http.noteResult(backlog.projectId, response, result);
    return read;
  }

  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#options.http.whenHandedOver(listener);
  }

  capacity(backlog: Backlog): ProviderCapacity {
    return this.#options.http.capacity(backlog);
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }
}

function readResponse(response: ProviderResponse): GatewayResponse {
  if (response.kind !== 'responded') return response;
  const { status, body } = response;
  const unclear = {
    kind: 'unclear',
    reason: `Telegram responded with HTTP ${status} and no clear result`,
  } as const;
  // A server that fails may have acted before: what it says of the request is not certain.
  if (isUnclearStatus(status)) return unclear;
  const read = RESPONSE.safeParse(limitedJsonOf(body, PROVIDER_RESPONSE_MEMBERS_MAX)).data;
  const ofStatus = { kind: 'error', code: `${HTTP_ERROR_PREFIX}${status}` } as const;
  if (read === undefined) return NOTHING_DONE_STATUSES.has(status) ? ofStatus : unclear;
  if (!read.ok) {
    const code = codeOf(read.error);
    return status === TOO_MANY_REQUESTS && !isKnownError(code) ? ofStatus : { kind: 'error', code };
  }
  return isSuccessStatus(status) ? { kind: 'done', result: read.result } : unclear;
}

/** What a response says of its request, whatever method it called; null when that is not clear. */
function resultOf(response: GatewayResponse): SubmitResult | null {
  if (response.kind === 'done') return { kind: 'accepted', providerMessageIds: [] };
  return response.kind === 'error' ? rejectedBy(response.code) : null;
}

function codeOf(error: unknown): string {
  return typeof error === 'string' && ERROR_CODE_PATTERN.test(error) ? error : UNNAMED_ERROR;
}

import { z } from 'zod';
import {
  isSuccessStatus,
  isUnclearStatus,
  type ProviderHttp,
  type ProviderReply,
} from '../../application/ports/provider-http.ts';
import { jsonOf } from '../../domain/shared/json-text.ts';

/**
 * What became of a call. `done`: Telegram did it. `error`: Telegram did not do it, for the reason of `code`. `not-sent` and
 * `unclear` are those of `ProviderReply`; a reply that cannot be read is `unclear` too.
 */
export type GatewayReply =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: string }
  | { readonly kind: 'not-sent'; readonly reason: string }
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

/** Begins the code of an error that HTTP itself tells, in a reply without a readable body. */
export const HTTP_ERROR_PREFIX = 'HTTP_';

/** The code of an error whose own text is none: the text may quote the request. */
const UNNAMED_ERROR = 'UNNAMED_ERROR';

/** Statuses by which a server, or a proxy before it, says that it did nothing. */
const NOTHING_DONE_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 429]);

const ERROR_CODE_PATTERN = /^[A-Z][A-Z0-9_]{0,63}$/;

const REPLY = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.unknown() }),
]);

/** Calls the methods of the Telegram Gateway, and reads what it replies. */
export class GatewayClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async call(method: GatewayMethod, parameters: GatewayParameters): Promise<GatewayReply> {
    const { http, baseUrl, token } = this.#options;
    const reply = await http.send({
      method: 'POST',
      url: `${baseUrl}/${method}`,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify(parameters),
    });
    return reply.kind === 'replied' ? readReply(reply) : reply;
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }
}

function readReply({ status, body }: Extract<ProviderReply, { kind: 'replied' }>): GatewayReply {
  const unclear = {
    kind: 'unclear',
    reason: `Telegram replied with HTTP ${status} and no clear result`,
  } as const;
  // A server that fails may have acted before: what it says of the request is not certain.
  if (isUnclearStatus(status)) return unclear;
  const reply = REPLY.safeParse(jsonOf(body)).data;
  if (reply === undefined) {
    return NOTHING_DONE_STATUSES.has(status)
      ? { kind: 'error', code: `${HTTP_ERROR_PREFIX}${status}` }
      : unclear;
  }
  if (!reply.ok) return { kind: 'error', code: codeOf(reply.error) };
  return isSuccessStatus(status) ? { kind: 'done', result: reply.result } : unclear;
}

function codeOf(error: unknown): string {
  return typeof error === 'string' && ERROR_CODE_PATTERN.test(error) ? error : UNNAMED_ERROR;
}

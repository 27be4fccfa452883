import type { AttemptResult } from '../../domain/webhooks/attempt-result.ts';

/** One signed or secret-bearing request to a customer's server. */
export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as it is, in UTF-8. */
  readonly body: string;
}

/**
 * What became of one post. Durations are milliseconds of the whole exchange. `busy`: nothing was sent, because
 * too many posts to the same receiver are on their way or the transport is closed; it is no attempt.
 */
export type WebhookAnswer = AttemptResult & { readonly durationMs: number };

/** Posts under way at once to one host and path: enough for a fast receiver, and all that a hanging one can hold. */
export const POSTS_PER_ENDPOINT_MAX = 50;

/** A host that serves many customers gets more, and one of their paths cannot use it up. */
export const POSTS_PER_ORIGIN_MAX = 200;

/** The overall deadline of one post, from the first lookup to the last byte read (specification 6.1). */
export const WEBHOOK_TIMEOUT_MS = 10_000;

export interface WebhookTransport {
  /** One POST, HTTPS only, redirects not followed, the address checked when connecting. Never rejects. */
  post(post: WebhookPost): Promise<WebhookAnswer>;
  /** The url in its parsed form when a post to it may be tried, or null when it never can (specification 6.1). */
  acceptUrl(url: string): string | null;
  /** Ends idle connections; posts in flight end first. */
  close(): Promise<void>;
}

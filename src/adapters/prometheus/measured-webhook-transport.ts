import type { WebhookRequest, WebhookTransport } from '../../application/ports/webhook-transport.ts';
import { type AttemptResult, isSuccess } from '../../domain/webhooks/attempt-result.ts';
import type { Metrics } from './metrics.ts';
import { timed } from './timed.ts';

const STATUSES_PER_CLASS = 100;

/** Counts and times webhook attempts. */
export class MeasuredWebhookTransport implements WebhookTransport {
  readonly #inner: WebhookTransport;
  readonly #metrics: Metrics;

  constructor(inner: WebhookTransport, metrics: Metrics) {
    this.#inner = inner;
    this.#metrics = metrics;
  }

  send(request: WebhookRequest): Promise<AttemptResult> {
    let result: AttemptResult | null = null;
    return timed(
      async () => {
        result = await this.#inner.send(request);
        return result;
      },
      (seconds) => this.#metrics.webhookAttempts.observe({ outcome: outcomeOf(result) }, seconds),
    );
  }

  acceptUrl(url: string): string | null {
    return this.#inner.acceptUrl(url);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

function outcomeOf(result: AttemptResult | null): string {
  if (result === null) return 'failed';
  if (isSuccess(result)) return 'delivered';
  if (result.kind === 'failed') return result.reason;
  return `http-${Math.floor(result.status / STATUSES_PER_CLASS)}xx`;
}

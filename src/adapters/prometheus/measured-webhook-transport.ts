import { delegate } from '../../application/delegate.ts';
import type { WebhookTransport } from '../../application/ports/webhook-transport.ts';
import { type DeliveryResult, isSuccess } from '../../domain/webhooks/delivery-result.ts';
import type { Metrics } from './metrics.ts';
import { statusClass } from './status-class.ts';
import { timed } from './timed.ts';

/** A transport whose attempts are counted and timed. */
export function measuredWebhookTransport(
  inner: WebhookTransport,
  { webhookAttempts }: Metrics,
): WebhookTransport {
  return delegate(inner, {
    send: (request) =>
      timed(
        () => inner.send(request),
        (seconds, done) => {
          const outcome = done === null ? 'failed' : outcomeOf(done.result);
          webhookAttempts.observe({ outcome }, seconds);
        },
      ),
  });
}

function outcomeOf(result: DeliveryResult): string {
  if (isSuccess(result)) return 'delivered';
  if (result.kind === 'failed') return result.reason;
  return `http-${statusClass(result.status)}`;
}

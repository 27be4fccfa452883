import { SpanKind } from '@opentelemetry/api';
import { delegate } from '../../application/delegate.ts';
import type { ChannelProvider } from '../../application/ports/channel-provider.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import type { UnitOfWork } from '../../application/ports/unit-of-work.ts';
import type { WebhookTransport } from '../../application/ports/webhook-transport.ts';
import { errorOf, isSuccess } from '../../domain/webhooks/delivery-result.ts';
import type { Tracing } from './tracing.ts';

const FIRST_SERVER_ERROR = 500;

/** A span for each unit of work that changes something. */
export function tracedUnitOfWork(inner: UnitOfWork, tracing: Tracing): UnitOfWork {
  return delegate(inner, {
    run: (work, durability, lockWait) =>
      tracing.span('unit of work', SpanKind.CLIENT, { 'barid.durability': durability ?? 'full' }, () =>
        inner.run(work, durability, lockWait),
      ),
  });
}

/** A span for each submission. */
export function tracedProvider(inner: ChannelProvider, tracing: Tracing): ChannelProvider {
  return delegate(inner, {
    submit: (submission) =>
      tracing.span(
        'submit',
        SpanKind.CLIENT,
        {
          'barid.provider': inner.name,
          'barid.channel': submission.channel,
          'barid.sms_id': submission.smsId,
        },
        () => inner.submit(submission),
        ({ kind }) => ({ attributes: { 'barid.result': kind }, failed: kind === 'unknown' }),
      ),
  });
}

/** A span for each webhook attempt, without the address. The receiver is sent no trace context. */
export function tracedWebhookTransport(inner: WebhookTransport, tracing: Tracing): WebhookTransport {
  return delegate(inner, {
    send: (request) =>
      tracing.span(
        'webhook attempt',
        SpanKind.CLIENT,
        {},
        () => inner.send(request),
        (result) => ({
          attributes: { 'barid.outcome': isSuccess(result) ? 'delivered' : errorOf(result) },
          failed: !isSuccess(result),
        }),
      ),
  });
}

/** A span for each request, in the trace of its caller when there is one. */
export function tracedRequests(tracing: Tracing): RequestObserver {
  return {
    served({ method, route, status, code, durationMs, requestId, traceparent }) {
      tracing.ended(route === null ? method : `${method} ${route}`, {
        durationMs,
        traceparent,
        failed: status >= FIRST_SERVER_ERROR,
        attributes: {
          'http.request.method': method,
          'http.response.status_code': status,
          'barid.request_id': requestId,
          ...(route === null ? {} : { 'http.route': route }),
          ...(code === null ? {} : { 'barid.error_code': code }),
        },
      });
    },
  };
}

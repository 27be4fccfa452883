import {
  tracedProvider,
  tracedRequests,
  tracedUnitOfWork,
  tracedWebhookTransport,
} from '../../adapters/opentelemetry/traced-ports.ts';
import { Tracing, type TracingOptions } from '../../adapters/opentelemetry/tracing.ts';
import type { Instrument } from '../instrument.ts';

/** Traces by OTLP over HTTP. */
export function openTelemetryInstrument(options: TracingOptions): Instrument {
  const tracing = new Tracing(options);
  return {
    unitOfWork: (inner) => tracedUnitOfWork(inner, tracing),
    channelProvider: (inner) => tracedProvider(inner, tracing),
    webhookTransport: (inner) => tracedWebhookTransport(inner, tracing),
    requests: tracedRequests(tracing),
    close: () => tracing.close(),
  };
}

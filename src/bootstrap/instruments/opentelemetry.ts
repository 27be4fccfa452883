import { UndiciProviderHttp } from '../../adapters/egress/providers/undici-provider-http.ts';
import {
  tracedProvider,
  tracedRequests,
  tracedUnitOfWork,
  tracedWebhookTransport,
} from '../../adapters/opentelemetry/traced-ports.ts';
import { EXPORT_TIMEOUT_MS, Tracing, type TracingOptions } from '../../adapters/opentelemetry/tracing.ts';
import type { Instrument } from '../instrument.ts';

/** Traces by OTLP over HTTP. */
export function openTelemetryInstrument(options: Omit<TracingOptions, 'http'>): Instrument {
  const http = new UndiciProviderHttp({ timeoutMs: EXPORT_TIMEOUT_MS });
  const tracing = new Tracing({ ...options, http });
  return {
    unitOfWork: (inner) => tracedUnitOfWork(inner, tracing),
    channelProvider: (inner) => tracedProvider(inner, tracing),
    webhookTransport: (inner) => tracedWebhookTransport(inner, tracing),
    requests: tracedRequests(tracing),
    close: () => tracing.close(),
  };
}

import { performance } from 'node:perf_hooks';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { MinuteLog } from '../../application/minute-log.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { ProviderHttp } from '../../application/ports/provider-http.ts';
import { HttpSpanExporter } from './http-span-exporter.ts';

/** After how long an export is given up, in milliseconds. Its spans are lost. */
export const EXPORT_TIMEOUT_MS = 2_000;

/** Spans that wait for an export; those after them are dropped. */
const WAITING_SPANS_MAX = 4_096;

export interface TracingOptions {
  /** The base of an OTLP/HTTP receiver, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its requests end within `EXPORT_TIMEOUT_MS`. The tracing closes it. */
  readonly http: ProviderHttp;
  readonly logger: Logger;
  readonly version: string;
  readonly role: string;
}

/** What a span tells when it ends. */
export interface SpanEnd {
  readonly attributes?: Attributes;
  readonly failed?: boolean;
}

/**
 * Makes spans and exports them in the background. No attribute has a text, a code, a key, a phone number or an address. A
 * receiver that is away costs spans and nothing else.
 */
export class Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;

  constructor({ endpoint, headers, http, logger, version, role }: TracingOptions) {
    const log = new MinuteLog({ clock: performance, logger });
    const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
    const exporter = new HttpSpanExporter(http, { url, headers }, (reason) =>
      log.warn('trace_export_failed', { reason }),
    );
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes({
        'service.name': 'barid',
        'service.version': version,
        'barid.role': role,
      }),
      spanProcessors: [
        new BatchSpanProcessor(exporter, {
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
          maxQueueSize: WAITING_SPANS_MAX,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('barid', version);
  }

  /** Does `work` in a span of its own trace, and rejects as `work` does; `endOf` tells what the result means. */
  async span<T>(
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    work: () => Promise<T>,
    endOf: (result: T) => SpanEnd = () => ({}),
  ): Promise<T> {
    const span = this.#tracer.startSpan(name, { kind, attributes, root: true });
    try {
      const result = await work();
      const { attributes: more = {}, failed = false } = endOf(result);
      span.setAttributes(more);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      return result;
    } catch (error) {
      // The message of an error may have what a caller sent.
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  /** A span of something that took `durationMs` and has just ended, in the caller's trace when there is one. */
  ended(name: string, { durationMs, attributes, failed, traceparent }: SpanEnd & EndedSpan): void {
    const now = Date.now();
    const context = contextOf(traceparent);
    const start = { kind: SpanKind.SERVER, startTime: now - durationMs, ...(attributes && { attributes }) };
    const span = this.#tracer.startSpan(name, start, context);
    if (failed === true) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(now);
  }

  /** Exports what waits, for `EXPORT_TIMEOUT_MS` at most. Never rejects. May be called twice. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(() => undefined);
  }
}

interface EndedSpan {
  readonly durationMs: number;
  readonly traceparent: string | null;
}

const TRACEPARENT = /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;
const ZEROES = /^0+$/;

/** The W3C trace context of a caller; a malformed one is as none. */
function contextOf(traceparent: string | null): Context {
  const { traceId, spanId, flags } = TRACEPARENT.exec(traceparent ?? '')?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  if (ZEROES.test(traceId) || ZEROES.test(spanId)) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

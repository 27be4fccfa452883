import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import {
  isSuccessStatus,
  type ProviderHttp,
  type ProviderResponse,
} from '../../application/ports/provider-http.ts';

interface Receiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0];

const SUCCESS: ExportResult = { code: 0 };
const FAILED: ExportResult = { code: 1 };

/**
 * Exports spans by OTLP over HTTP, in JSON. A receiver is no more trusted than a provider: its responses have the same limits.
 * What it does not take is lost.
 */
export class HttpSpanExporter implements SpanExporter {
  readonly #http: ProviderHttp;
  readonly #receiver: Receiver;
  readonly #onFailed: (reason: string) => void;

  /** `shutdown` closes `http`. `onFailed` hears why spans are lost. */
  constructor(http: ProviderHttp, receiver: Receiver, onFailed: (reason: string) => void) {
    this.#http = http;
    this.#receiver = receiver;
    this.#onFailed = onFailed;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const { url, headers } = this.#receiver;
    const body = Buffer.from(JsonTraceSerializer.serializeRequest(spans) ?? []).toString();
    void this.#http
      .send({ method: 'POST', url, headers: { ...headers, 'content-type': 'application/json' }, body })
      .then((response) => {
        const reason = failureOf(response);
        if (reason !== null) this.#onFailed(reason);
        done(reason === null ? SUCCESS : FAILED);
      });
  }

  shutdown(): Promise<void> {
    return this.#http.close();
  }
}

/** Null when the receiver took the spans. */
function failureOf(response: ProviderResponse): string | null {
  if (response.kind !== 'responded') return response.reason;
  return isSuccessStatus(response.status) ? null : `HTTP ${response.status}`;
}

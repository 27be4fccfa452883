import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { isSuccessStatus, type ProviderHttp } from '../../application/ports/provider-http.ts';

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

  /** `shutdown` closes `http`. */
  constructor(http: ProviderHttp, receiver: Receiver) {
    this.#http = http;
    this.#receiver = receiver;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const { url, headers } = this.#receiver;
    const body = Buffer.from(JsonTraceSerializer.serializeRequest(spans) ?? []).toString();
    void this.#http
      .send({ method: 'POST', url, headers: { ...headers, 'content-type': 'application/json' }, body })
      .then((response) =>
        done(response.kind === 'responded' && isSuccessStatus(response.status) ? SUCCESS : FAILED),
      );
  }

  shutdown(): Promise<void> {
    return this.#http.close();
  }
}

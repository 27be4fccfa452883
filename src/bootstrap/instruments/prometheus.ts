import { countedLogger } from '../../adapters/prometheus/counted-logger.ts';
import { measuredJobQueue } from '../../adapters/prometheus/measured-job-queue.ts';
import { measuredProvider } from '../../adapters/prometheus/measured-provider.ts';
import { MeasuredRequests } from '../../adapters/prometheus/measured-requests.ts';
import { measuredUnitOfWork } from '../../adapters/prometheus/measured-unit-of-work.ts';
import { measuredWebhookTransport } from '../../adapters/prometheus/measured-webhook-transport.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { MetricsServer } from '../../adapters/prometheus/metrics-server.ts';
import { WorkGauges } from '../../adapters/prometheus/work-gauges.ts';
import type { Role } from '../config/config.ts';
import type { Instrument } from '../instrument.ts';
import { listenMistake } from '../listen-mistake.ts';
import type { BuildVersion } from '../version.ts';

export interface PrometheusOptions {
  readonly port: number;
  readonly host: string;
  readonly role: Role;
  readonly build: BuildVersion;
}

/** The metrics of the process, and where they are read. */
export interface PrometheusInstrument extends Instrument {
  /** The port of the listener; null before `start`. */
  readonly listeningOn: () => number | null;
}

/** Counts and times at the ports, and serves `/metrics` on a listener of its own from `start` on. */
export function prometheusInstrument({ port, host, role, build }: PrometheusOptions): PrometheusInstrument {
  const metrics = createMetrics();
  metrics.buildInfo.set({ version: build.version, commit: build.commit ?? 'unknown', role }, 1);
  let server: MetricsServer | null = null;
  let listeningOn: number | null = null;
  return {
    unitOfWork: (inner) => measuredUnitOfWork(inner, metrics),
    channelProvider: (inner) => measuredProvider(inner, metrics),
    webhookTransport: (inner) => measuredWebhookTransport(inner, metrics),
    jobQueue: (inner) => measuredJobQueue(inner, metrics),
    logger: (inner) => countedLogger(inner, metrics),
    requests: new MeasuredRequests(metrics),
    async start(roots) {
      const gauges = new WorkGauges(roots, metrics);
      server = new MetricsServer(metrics, () => gauges.refresh());
      try {
        listeningOn = await server.listen(port, host);
      } catch (error) {
        throw listenMistake(error, { port: ['METRICS_PORT', port], host: ['METRICS_HOST', host] });
      }
    },
    async close() {
      await server?.close();
    },
    listeningOn: () => listeningOn,
  };
}

import { ContainerModule } from 'inversify';
import { timedDelay } from '../../adapters/timer/timed-delay.ts';
import { UndiciWebhookTransport } from '../../adapters/undici/undici-webhook-transport.ts';
import type { EgressConfig } from '../config/egress-config.ts';
import { ports } from '../tokens.ts';

/** How long the results of attempts wait for others to be recorded with, under load. */
const RECORD_BATCH_WINDOW_MS = 20;

/** How late events may be found that come due while others of their destination are in flight. */
const FETCH_INTERVAL_MS = 100;

/** Delivery to customers, behind the guard on every connection. */
export const webhooks = ({ allow, ports: allowedPorts, ca }: EgressConfig) =>
  new ContainerModule(({ bind }) => {
    bind(ports.recordBatchWindow).toConstantValue(timedDelay(RECORD_BATCH_WINDOW_MS));
    bind(ports.fetchInterval).toConstantValue(timedDelay(FETCH_INTERVAL_MS));
    bind(ports.webhookTransport).toResolvedValue(
      () =>
        new UndiciWebhookTransport({
          allowedNetworks: allow,
          allowedPorts,
          ...(ca === undefined ? {} : { ca }),
        }),
    );
  });

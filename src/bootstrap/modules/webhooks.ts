import { ContainerModule } from 'inversify';
import { timedDelay } from '../../adapters/timer/timed-delay.ts';
import { UndiciWebhookTransport } from '../../adapters/undici/undici-webhook-transport.ts';
import type { EgressConfig } from '../config.ts';
import { ports } from '../tokens.ts';

/** What it may add, under load, to the time until a message's next event. */
const RECORDING_PAUSE_MS = 20;

/** How late events may be noticed that come due while others are on their way to the same endpoint. */
const LOOK_AGAIN_MS = 100;

/** Posting to customers, behind the guard on every connection. */
export const webhooks = ({ allow, ports: allowedPorts, ca }: EgressConfig) =>
  new ContainerModule(({ bind }) => {
    bind(ports.recordBatchWindow).toConstantValue(timedDelay(RECORDING_PAUSE_MS));
    bind(ports.fetchInterval).toConstantValue(timedDelay(LOOK_AGAIN_MS));
    bind(ports.webhookTransport).toResolvedValue(
      () =>
        new UndiciWebhookTransport({
          allowedNetworks: allow,
          allowedPorts,
          ...(ca === undefined ? {} : { ca }),
        }),
    );
  });

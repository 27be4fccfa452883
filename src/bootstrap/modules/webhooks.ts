import { ContainerModule } from 'inversify';
import { UndiciWebhookTransport } from '../../adapters/egress/webhooks/undici-webhook-transport.ts';
import type { EgressConfig } from '../config/egress-config.ts';
import { ports } from '../tokens.ts';

/** Delivery to customers, behind the guard on every connection. */
export const webhooks = ({ allow, ports: allowedPorts, ca }: EgressConfig) =>
  new ContainerModule(({ bind }) => {
    bind(ports.webhookTransport).toResolvedValue(
      () =>
        new UndiciWebhookTransport({
          allowedNetworks: allow,
          allowedPorts,
          ...(ca === undefined ? {} : { ca }),
        }),
    );
  });

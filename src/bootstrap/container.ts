import 'reflect-metadata';
import { Container, type ContainerModule } from 'inversify';
import type { DatabaseConfig } from '../adapters/knex/database.ts';
import type { SimulatedMessage } from '../adapters/simulator/simulator.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { ChannelsConfig } from './config/channels-file.ts';
import type { QueueConfig, ReportsConfig } from './config/config.ts';
import type { EgressConfig } from './config/egress-config.ts';
import { type Instrument, instrumented } from './instrument.ts';
import { channels } from './modules/channels.ts';
import { persistence } from './modules/persistence.ts';
import { queue } from './modules/queue.ts';
import { reports } from './modules/reports.ts';
import { system } from './modules/system.ts';
import { useCases } from './modules/use-cases.ts';
import { waits } from './modules/waits.ts';
import { webhooks } from './modules/webhooks.ts';
import { ports } from './tokens.ts';

export interface ContainerParts {
  readonly database: DatabaseConfig;
  readonly queue: QueueConfig;
  readonly channels: ChannelsConfig;
  readonly secretKey: Buffer;
  readonly egress: EgressConfig;
  /** In memory by default. */
  readonly reports?: ReportsConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As in `SystemParts`. */
  readonly keepsPlatformLimits?: boolean;
  readonly onSubmission?: (message: SimulatedMessage) => void;
  readonly overrides?: readonly ContainerModule[];
  /** What stands around the ports; none by default. */
  readonly instruments?: readonly Instrument[];
}

/** Every port and use case for one choice of adapters; later modules win. `resolveRoots` takes out what is used. */
export function buildContainer(parts: ContainerParts): Container {
  const { instruments = [] } = parts;
  const container = new Container({ defaultScope: 'Singleton' });
  container.load(
    system(parts),
    persistence(parts.database),
    queue(parts.queue),
    channels(parts.channels, {
      ...(parts.onSubmission === undefined ? {} : { onSubmission: parts.onSubmission }),
      decorate: (provider) => instrumented(instruments, 'channelProvider', provider),
    }),
    webhooks(parts.egress),
    reports(parts.reports),
    waits,
    ...useCases,
    ...(parts.overrides ?? []),
  );
  // Around whatever adapter was bound, also by an override.
  if (instruments.length > 0) {
    container.onActivation(ports.unitOfWork, (_, inner) => instrumented(instruments, 'unitOfWork', inner));
    container.onActivation(ports.webhookTransport, (_, inner) =>
      instrumented(instruments, 'webhookTransport', inner),
    );
    container.onActivation(ports.jobQueue, (_, inner) => instrumented(instruments, 'jobQueue', inner));
  }
  return container;
}

import 'reflect-metadata';
import { Container, type ContainerModule } from 'inversify';
import type { DatabaseConfig } from '../adapters/knex/database.ts';
import type { SimulatedMessage } from '../adapters/simulator/simulator.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { ProvidersConfig } from './channels-file.ts';
import type { QueueConfig, ReportsConfig } from './config.ts';
import type { EgressConfig } from './egress-config.ts';
import { channels } from './modules/channels.ts';
import { persistence } from './modules/persistence.ts';
import { queue } from './modules/queue.ts';
import { reports } from './modules/reports.ts';
import { system } from './modules/system.ts';
import { useCases } from './modules/use-cases.ts';
import { webhooks } from './modules/webhooks.ts';

export interface ContainerParts {
  readonly database: DatabaseConfig;
  readonly queue: QueueConfig;
  readonly providers: ProvidersConfig;
  readonly secretKey: Buffer;
  readonly egress: EgressConfig;
  /** In memory by default. */
  readonly reports?: ReportsConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As in `SystemParts`. */
  readonly campaignLimits?: boolean;
  readonly onSubmission?: (message: SimulatedMessage) => void;
  readonly overrides?: readonly ContainerModule[];
}

/** Every port and use case for one choice of adapters; later modules win. `resolveRoots` takes out what is used. */
export function buildContainer(parts: ContainerParts): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.load(
    system(parts),
    persistence(parts.database),
    queue(parts.queue),
    channels(parts.providers, parts.onSubmission),
    webhooks(parts.egress),
    reports(parts.reports),
    useCases,
    ...(parts.overrides ?? []),
  );
  return container;
}

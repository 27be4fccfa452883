import { ContainerModule } from 'inversify';
import { MemoryJobQueue } from '../../adapters/memory/job-queue.ts';
import { RabbitJobQueue } from '../../adapters/rabbitmq/job-queue.ts';
import { FailoverJobQueue } from '../../application/jobs/failover-job-queue.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { QueueConfig } from '../config/config.ts';
import { ports } from '../tokens.ts';

/** The job queue, inside the process or on RabbitMQ. */
export const queue = (config: QueueConfig) =>
  new ContainerModule(({ bind }) => {
    switch (config.kind) {
      case 'memory':
        bind(ports.jobQueue).toResolvedValue(
          (logger: Logger) => new MemoryJobQueue({ logger }),
          [ports.logger],
        );
        return;
      case 'rabbitmq':
        bind(ports.jobQueue).toResolvedValue(
          (logger: Logger) =>
            new FailoverJobQueue({
              broker: new RabbitJobQueue({ url: config.url, prefix: config.prefix, logger }),
              local: new MemoryJobQueue({ logger }),
            }),
          [ports.logger],
        );
        return;
      default:
        config satisfies never;
    }
  });

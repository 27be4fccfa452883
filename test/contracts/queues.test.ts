import { describe } from 'vitest';
import { MemoryJobQueue } from '../../src/adapters/memory/job-queue.ts';
import { FailoverJobQueue } from '../../src/application/jobs/failover-job-queue.ts';
import type { JobQueue } from '../../src/application/ports/job-queue.ts';
import { RabbitWorld } from '../support/rabbit-world.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { jobQueueContract, type QueueProcess, type QueueWorld } from './job-queue.contract.ts';

const rabbitUrl = process.env.TEST_RABBITMQ_URL ?? '';

describe('MemoryJobQueue', () => {
  jobQueueContract({ durable: false }, async () => memoryWorld());
});

describe('FailoverJobQueue', () => {
  jobQueueContract({ durable: false }, async () => memoryWorld(failover));
});

describe.skipIf(rabbitUrl === '')(
  rabbitUrl === '' ? 'RabbitJobQueue (skipped: TEST_RABBITMQ_URL is not set)' : 'RabbitJobQueue',
  () => {
    jobQueueContract({ durable: true }, () => rabbitWorld(rabbitUrl));
  },
);

type MemoryOptions = ConstructorParameters<typeof MemoryJobQueue>[0];

const failover = (options: MemoryOptions): JobQueue =>
  new FailoverJobQueue({ broker: new MemoryJobQueue(options), local: new MemoryJobQueue(options) });

function memoryWorld(open = (options: MemoryOptions): JobQueue => new MemoryJobQueue(options)): QueueWorld {
  const opened: JobQueue[] = [];
  return {
    process: async (options = {}): Promise<QueueProcess> => {
      const queue = open({ logger: new RecordingLogger(), ...options });
      opened.push(queue);
      const unsupported = (): never => {
        throw new Error('There is no network inside a process');
      };
      return { queue, ready: async () => {}, pause: unsupported, sever: unsupported };
    },
    dispose: async () => {
      await Promise.all(opened.map((queue) => queue.close()));
    },
  };
}

async function rabbitWorld(url: string): Promise<QueueWorld> {
  const world = await RabbitWorld.open(url);
  return {
    process: async ({ capacity, batchMax } = {}): Promise<QueueProcess> => {
      const { queue, proxy } = await world.process({
        ...(capacity === undefined ? {} : { readyMax: capacity }),
        ...(batchMax === undefined ? {} : { batchMax }),
      });
      return {
        queue,
        ready: () => queue.ready(),
        pause: () => proxy.pause(),
        sever: () => proxy.sever(),
      };
    },
    dispose: () => world.dispose(),
  };
}

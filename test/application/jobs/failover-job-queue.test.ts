import { beforeEach, expect, it } from 'vitest';
import { MemoryJobQueue } from '../../../src/adapters/memory/job-queue.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { FailoverJobQueue } from '../../../src/application/jobs/failover-job-queue.ts';
import type { JobQueue } from '../../../src/application/ports/job-queue.ts';
import type { LeasedJob } from '../../../src/domain/jobs/job.ts';
import { aMessage, NOW } from '../../support/builders.ts';
import { JobCollector } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const logger = new RecordingLogger();
const job = (id: string): LeasedJob => ({ ...startAttemptJob(aMessage(), 0, NOW), id, fencingToken: 1 });

let atBroker: string[];
let awayReason: string | null;
let collector: JobCollector;
let queue: FailoverJobQueue;

beforeEach(async () => {
  atBroker = [];
  awayReason = null;
  collector = new JobCollector();
  const memory = new MemoryJobQueue({ logger, capacity: 7 });
  const broker: JobQueue = {
    publish: async (jobs) => {
      atBroker.push(...jobs.map(({ id }) => id));
      await memory.publish(jobs);
    },
    consume: (handler) => memory.consume(handler),
    availableCapacity: async () => (awayReason === null ? memory.availableCapacity() : 0),
    idle: () => memory.idle(),
    close: () => memory.close(),
    unavailableReason: () => awayReason ?? memory.unavailableReason(),
  };
  queue = new FailoverJobQueue({ broker, local: new MemoryJobQueue({ logger, capacity: 5 }) });
  await queue.consume(collector.handler);
});

it('a failover queue publishes at its broker, as many as that takes', async () => {
  expect(await queue.availableCapacity()).toBe(7);
  await queue.publish([job('a')]);
  await queue.idle();
  expect(atBroker).toEqual(['a']);
  expect(collector.ids()).toEqual(['a']);
});

it('a failover queue hands jobs over inside the process while its broker is away, and says why that is away', async () => {
  awayReason = 'cut off';
  expect(await queue.availableCapacity()).toBe(5);
  expect(queue.unavailableReason()).toBe('cut off');
  await queue.publish([job('a')]);
  await queue.idle();
  expect(atBroker).toEqual([]);
  expect(collector.ids()).toEqual(['a']);
});

it('a failover queue goes back to its broker, and still does what waits in the process', async () => {
  awayReason = 'cut off';
  await queue.publish([job('a')]);
  awayReason = null;
  await queue.publish([job('b')]);
  await queue.idle();
  expect(atBroker).toEqual(['b']);
  expect(collector.ids().toSorted()).toEqual(['a', 'b']);
});

it('a failover queue that is closed takes no job, neither at its broker nor in the process', async () => {
  await queue.close();
  await expect(queue.publish([job('a')])).rejects.toThrow('closed');
  awayReason = 'cut off';
  expect(await queue.availableCapacity()).toBe(0);
  await expect(queue.publish([job('a')])).rejects.toThrow('closed');
});

import { expect, it } from 'vitest';
import { MemoryJobQueue } from '../../../src/adapters/memory/job-queue.ts';
import { Gate, JobCollector, leasedJobs } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const queueWith = (batchMax: number) => new MemoryJobQueue({ logger: new RecordingLogger(), batchMax });

it('the memory queue does the waiting jobs when it closes, so that none stays leased', async () => {
  const gate = new Gate();
  const collector = new JobCollector(() => gate.opened);
  const queue = queueWith(2);
  await queue.consume(collector.handler);
  await queue.publish(leasedJobs(1, 5));
  await collector.called(1);
  const closed = queue.close();
  gate.open();
  await closed;
  expect(collector.ids()).toEqual(leasedJobs(1, 5).map(({ id }) => id));
});

it('the memory queue closes without a consumer', async () => {
  const queue = queueWith(2);
  await queue.publish(leasedJobs(1, 5));
  await queue.close();
  expect(queue.unavailableReason()).toBe('closed');
});

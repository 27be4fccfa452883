import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deliverWebhooksJob } from '../../src/application/jobs/webhook-jobs.ts';
import type { JobQueue } from '../../src/application/ports/job-queue.ts';
import { Gate, JobCollector, leasedJob, leasedJobs } from '../support/job-collector.ts';

export interface QueueCapabilities {
  /** Jobs outlive the process that published or received them, and a rejected batch is delivered again. */
  readonly durable: boolean;
}

export interface QueueProcessOptions {
  /** Jobs that may wait before the capacity is 0. */
  readonly capacity?: number;
  readonly batchMax?: number;
}

/** One process that uses the queue. */
export interface QueueProcess {
  readonly queue: JobQueue;
  /** Resolves once the queue can carry jobs. */
  ready(): Promise<void>;
  /** Nothing passes between the process and the queue until `sever`. Durable queues only. */
  pause(): void;
  /** The process loses the queue for good. Durable queues only. */
  sever(): void;
}

/** A queue of its own for one test. */
export interface QueueWorld {
  process(options?: QueueProcessOptions): Promise<QueueProcess>;
  dispose(): Promise<void>;
}

/** Processes that open and close while another one has a batch at hand. */
const ROUNDS_MEANWHILE = 3;

/** What every job queue promises, whatever carries it. */
export function jobQueueContract({ durable }: QueueCapabilities, open: () => Promise<QueueWorld>): void {
  let world: QueueWorld;

  beforeEach(async () => {
    world = await open();
  });
  afterEach(async () => {
    await world.dispose();
  });

  async function start(collector: JobCollector, options?: QueueProcessOptions): Promise<QueueProcess> {
    const process = await world.process(options);
    await process.queue.consume(collector.handler);
    await process.ready();
    return process;
  }

  it('a job queue delivers every published job, as it was published', async () => {
    const collector = new JobCollector();
    const { queue } = await start(collector);
    const jobs = leasedJobs(1, 1200).map((job, index) => ({ ...job, fencingToken: index + 1 }));
    await queue.publish(jobs.slice(0, 700));
    await queue.publish(jobs.slice(700));
    await collector.received(jobs);
    const byToken = [...collector.batches.flat()].sort((a, b) => a.fencingToken - b.fencingToken);
    expect(byToken).toEqual(jobs);
  });

  it('a job queue hands over nothing for an empty publish', async () => {
    const collector = new JobCollector();
    const { queue } = await start(collector);
    await queue.publish([]);
    await queue.idle();
    expect(collector.batches).toEqual([]);
  });

  it('a job queue hands over one batch of a kind at a time and fills the next meanwhile, up to its limit', async () => {
    const gate = new Gate();
    const collector = new JobCollector((_, call) => (call === 1 ? gate.opened : undefined));
    const { queue } = await start(collector, { batchMax: 10 });
    await queue.publish([leasedJob(1)]);
    await collector.called(1);
    await queue.publish(leasedJobs(2, 100));
    gate.open();
    await queue.idle();
    expect(collector.busyMax).toBe(1);
    expect(new Set(collector.ids()).size).toBe(100);
    expect(Math.max(...collector.batches.map((batch) => batch.length))).toBe(10);
    // One by one would take a hundred calls.
    expect(collector.batches.length).toBeLessThan(50);
  });

  it('a job queue hands over jobs of one kind while a batch of another kind is being done', async () => {
    const gate = new Gate();
    const collector = new JobCollector(([job]) =>
      job?.work.kind === 'start-attempt' ? gate.opened : undefined,
    );
    const { queue } = await start(collector);
    await queue.publish([leasedJob(1)]);
    await collector.called(1);
    const { id, work } = deliverWebhooksJob({ projectId: 'p', endpoint: 'e' }, 0);
    const delivery = { id, fencingToken: 1, work };
    await queue.publish([leasedJob(2), delivery]);
    await collector.received([delivery]);
    expect(collector.ids()).toEqual([leasedJob(1).id, delivery.id]);
    gate.open();
    await queue.idle();
    expect(collector.ids()).toEqual([leasedJob(1).id, delivery.id, leasedJob(2).id]);
  });

  it('a job queue hands over the next batch after a handler rejected', async () => {
    const collector = new JobCollector((jobs) => {
      if (jobs.some(({ id }) => id === leasedJob(1).id)) throw new Error('planted');
    });
    const { queue } = await start(collector);
    await queue.publish([leasedJob(1)]);
    await collector.called(1);
    await queue.publish([leasedJob(2)]);
    await collector.received([leasedJob(2)]);
    expect(queue.unavailableReason()).toBeNull();
  });

  it('a job queue is idle only when the handler has done every job', async () => {
    const gate = new Gate();
    let done = 0;
    const collector = new JobCollector(async (jobs) => {
      await gate.opened;
      done += jobs.length;
    });
    const { queue } = await start(collector, { batchMax: 2 });
    await queue.publish(leasedJobs(1, 5));
    const doneWhenIdle = queue.idle().then(() => done);
    await collector.called(1);
    await nextRound();
    gate.open();
    expect(await doneWhenIdle).toBe(5);
  });

  it('a job queue has capacity for its limit less the jobs that wait', async () => {
    const collector = new JobCollector();
    const { queue, ready } = await world.process({ capacity: 3 });
    await ready();
    expect(await queue.availableCapacity()).toBe(3);
    await queue.publish(leasedJobs(1, 2));
    expect(await queue.availableCapacity()).toBe(1);
    await queue.publish(leasedJobs(3, 5));
    expect(await queue.availableCapacity()).toBe(0);
    await queue.consume(collector.handler);
    await collector.received(leasedJobs(1, 5));
    await expect.poll(() => queue.availableCapacity()).toBe(3);
  });

  it('a job queue finishes the batch in hand when it closes, and takes no further jobs', async () => {
    const gate = new Gate();
    let isDone = false;
    const collector = new JobCollector(async () => {
      await gate.opened;
      isDone = true;
    });
    const { queue } = await start(collector);
    await queue.publish([leasedJob(1)]);
    await collector.called(1);
    let isClosed = false;
    const closed = queue.close().then(() => {
      isClosed = true;
    });
    // Processes that open and close meanwhile take longer than a close that does not wait for its batch.
    for (let round = 0; round < ROUNDS_MEANWHILE; round += 1) {
      const other = await start(new JobCollector());
      await other.queue.close();
    }
    expect(isClosed).toBe(false);
    gate.open();
    await closed;
    expect(isDone).toBe(true);
    await expect(queue.publish([leasedJob(2)])).rejects.toThrow();
    expect(await queue.availableCapacity()).toBe(0);
    expect(queue.unavailableReason()).not.toBeNull();
  });

  it('a job queue may be closed twice', async () => {
    const { queue } = await start(new JobCollector());
    await Promise.all([queue.close(), queue.close()]);
    await queue.close();
    await queue.idle();
  });

  it('a job queue rejects a second consumer in one process', async () => {
    const { queue } = await start(new JobCollector());
    await expect(queue.consume(new JobCollector().handler)).rejects.toThrow();
  });

  if (!durable) return;

  it('a job queue delivers a rejected batch again', async () => {
    const collector = new JobCollector((_, call) => {
      if (call === 1) throw new Error('planted');
    });
    const { queue } = await start(collector);
    await queue.publish([leasedJob(1)]);
    await collector.called(2);
    await queue.idle();
    expect(collector.ids()).toEqual([leasedJob(1).id, leasedJob(1).id]);
  });

  it('a job queue acknowledges a batch only after its handler resolved', { timeout: 10_000 }, async () => {
    const gate = new Gate();
    const lost = new JobCollector(() => gate.opened);
    const first = await start(lost);
    const second = await world.process();
    await second.ready();
    await second.queue.publish([leasedJob(1)]);
    await lost.called(1);
    // A round trip to the queue: an early acknowledgement would have arrived by its end.
    await second.queue.publish([leasedJob(2)]);
    first.sever();
    const survivor = new JobCollector();
    await second.queue.consume(survivor.handler);
    await survivor.received(leasedJobs(1, 2));
    gate.open();
  });

  it('a job queue does not acknowledge a job that is being done together with a later one of another kind', async () => {
    const gate = new Gate();
    const lost = new JobCollector(([job]) => (job?.work.kind === 'start-attempt' ? gate.opened : undefined));
    const first = await start(lost);
    const second = await world.process();
    await second.ready();
    const { id, work } = deliverWebhooksJob({ projectId: 'p', endpoint: 'e' }, 0);
    const delivery = { id, fencingToken: 1, work };
    await second.queue.publish([leasedJob(1), delivery]);
    await lost.received([leasedJob(1), delivery]);
    // A round trip to the queue: the acknowledgement has arrived by its end.
    await second.queue.publish([leasedJob(2)]);
    first.sever();
    const survivor = new JobCollector();
    await second.queue.consume(survivor.handler);
    await survivor.received(leasedJobs(1, 2));
    await second.queue.idle();
    expect([...survivor.ids()].sort()).toEqual([leasedJob(1).id, leasedJob(2).id]);
    gate.open();
  });

  it('a job queue does not deliver an acknowledged batch again', async () => {
    const collector = new JobCollector();
    const first = await start(collector);
    await first.queue.publish([leasedJob(1)]);
    await first.queue.idle();
    await first.queue.close();
    const later = new JobCollector();
    const second = await start(later);
    await second.queue.publish([leasedJob(2)]);
    await second.queue.idle();
    expect(later.ids()).toEqual([leasedJob(2).id]);
  });

  it('a job queue keeps published jobs when the publisher is lost', async () => {
    const first = await world.process();
    await first.ready();
    await first.queue.publish(leasedJobs(1, 50));
    first.sever();
    const collector = new JobCollector();
    await start(collector);
    await collector.received(leasedJobs(1, 50));
  });

  it('a job queue rejects a publish when the connection is lost before the queue has confirmed', async () => {
    const { queue, pause, sever, ready } = await world.process();
    await ready();
    pause();
    const published = queue.publish(leasedJobs(1, 3));
    const outcome = published.then(
      () => 'resolved',
      () => 'rejected',
    );
    await nextRound();
    sever();
    expect(await outcome).toBe('rejected');
  });
}

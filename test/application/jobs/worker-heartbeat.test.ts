import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { deliverWebhooksJob } from '../../../src/application/jobs/webhook-jobs.ts';
import { WORKER_SEEN_MS, WorkerHeartbeat } from '../../../src/application/jobs/worker-heartbeat.ts';
import { WORKER_HEARTBEAT_MS } from '../../../src/application/jobs/worker-watch.ts';
import type { Durability } from '../../../src/application/ports/unit-of-work.ts';
import { LEASE_MS } from '../../../src/domain/jobs/job.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aMessage, anSmsId, NOW } from '../../support/builders.ts';
import { until } from '../../support/until.ts';

let world: ApplicationWorld;
/** Ends the interval that a heartbeat waits for; null while none waits. */
let endInterval: (() => void) | null;
let isAway: boolean;
/** So many units of work go well before the database is away; null: it is not. */
let isAwayAfter: number | null;
/** Of every unit of work. */
let durabilities: (Durability | undefined)[];
let wakes: number;

beforeEach(async () => {
  world = await openApplication({ projects: [] });
  endInterval = null;
  isAway = false;
  isAwayAfter = null;
  durabilities = [];
  wakes = 0;
});
afterEach(() => world.close());

function heartbeatOf(id: string): WorkerHeartbeat {
  return new WorkerHeartbeat({
    unitOfWork: {
      run(work, durability) {
        durabilities.push(durability);
        if (isAwayAfter !== null) isAwayAfter -= 1;
        return isAway || (isAwayAfter !== null && isAwayAfter < 0)
          ? Promise.reject(new StorageUnavailable(new Error('away')))
          : world.unitOfWork.run(work, durability);
      },
      read: (work) => world.unitOfWork.read(work),
      ping: () => world.unitOfWork.ping(),
    },
    heartbeatInterval: (expired) => {
      endInterval = expired;
      return () => {
        endInterval = null;
      };
    },
    clock: world.clock,
    logger: world.logger,
    wakeSignal: {
      wake() {
        wakes += 1;
      },
    },
    workerId: id,
  });
}

const rows = () => world.database.knex('workers').select('id', 'seen_at').orderBy('id');

describe('WorkerHeartbeat', () => {
  it('a worker beats every second, and counts for 15 seconds', () => {
    expect([WORKER_HEARTBEAT_MS, WORKER_SEEN_MS]).toEqual([1_000, 15_000]);
  });

  it('WorkerHeartbeat records one row per worker, again after each interval', async () => {
    const heartbeat = heartbeatOf('a');
    await heartbeat.start({ repeats: true });
    await heartbeatOf('b').start({ repeats: false });
    expect(await rows()).toEqual([
      { id: 'a', seen_at: NOW },
      { id: 'b', seen_at: NOW },
    ]);
    for (const later of [5_000, 10_000]) {
      world.clock.at = NOW + later;
      const expire = endInterval;
      endInterval = null;
      expire?.();
      await until(() => endInterval !== null);
      expect(await rows()).toEqual([
        { id: 'a', seen_at: NOW + later },
        { id: 'b', seen_at: NOW },
      ]);
    }
    expect(durabilities).toEqual(['eventual', 'eventual', 'eventual', 'eventual']);
  });

  it('WorkerHeartbeat removes nothing when it is stopped before its first heartbeat', async () => {
    isAway = true;
    await heartbeatOf('a').stop();
    expect(world.logger.entries).toEqual([]);
  });

  it('WorkerHeartbeat waits for no interval when the clock is moved by hand', async () => {
    await heartbeatOf('a').start({ repeats: false });
    expect(await rows()).toHaveLength(1);
    expect(endInterval).toBeNull();
  });

  it('WorkerHeartbeat removes a worker that missed sixty heartbeats of its own, whatever their clocks say', async () => {
    const heartbeat = heartbeatOf('a');
    await world.unitOfWork.run(({ workers }) => workers.markSeen('gone', NOW - 86_400_000));
    // The first one sees it, sixty miss it.
    for (let heartbeats = 0; heartbeats < 61; heartbeats += 1) await heartbeat.beat();
    expect((await rows()).map(({ id }) => id)).toEqual(['a', 'gone']);
    await heartbeat.beat();
    expect((await rows()).map(({ id }) => id)).toEqual(['a']);
  });

  it('WorkerHeartbeat removes its own row when it stops, waits for no further interval and does not come back', async () => {
    const [heartbeat, other] = [heartbeatOf('a'), heartbeatOf('b')];
    await other.beat();
    await heartbeat.start({ repeats: true });
    const beating = heartbeat.beat();
    await Promise.all([heartbeat.stop(), heartbeat.stop()]);
    await beating;
    await heartbeat.beat();
    expect(await rows()).toEqual([{ id: 'b', seen_at: NOW }]);
    expect(endInterval).toBeNull();
  });

  it('WorkerHeartbeat logs a database that is away once, and beats again when it is back', async () => {
    const heartbeat = heartbeatOf('a');
    isAway = true;
    await heartbeat.start({ repeats: true });
    await heartbeat.beat();
    expect(world.logger.count('worker_heartbeat_failed')).toBe(1);
    expect(endInterval).not.toBeNull();
    isAway = false;
    await heartbeat.beat();
    expect(await rows()).toEqual([{ id: 'a', seen_at: NOW }]);
    isAway = true;
    await heartbeat.stop();
    expect(world.logger.count('worker_heartbeat_failed')).toBe(2);
  });

  it('WorkerHeartbeat keeps no lease when so long without heartbeats that another worker may take over', async () => {
    const heartbeat = heartbeatOf('a');
    await heartbeat.start({ repeats: true });
    const isKeptAt = (now: number, leasedAt: number) => {
      world.clock.at = NOW + now;
      return heartbeat.keepsLease(NOW + leasedAt);
    };
    expect([isKeptAt(0, 0), isKeptAt(2_499, 0), isKeptAt(2_500, 0)]).toEqual([true, true, false]);
    world.clock.at = NOW + 2_499;
    await heartbeat.beat();
    expect([isKeptAt(4_998, 1), isKeptAt(4_999, 4_999)]).toEqual([true, false]);
    // What was leased before the time without heartbeats may be another worker's by now.
    await heartbeat.beat();
    expect([isKeptAt(5_000, 4_999), isKeptAt(5_000, 5_000)]).toEqual([false, true]);
  });

  it('WorkerHeartbeat keeps no lease under a clock that was put back until its next heartbeat', async () => {
    const heartbeat = heartbeatOf('a');
    await heartbeat.start({ repeats: true });
    world.clock.at = NOW - 1;
    expect(heartbeat.keepsLease(NOW - 1)).toBe(false);
    await heartbeat.beat();
    world.clock.at = NOW;
    expect(heartbeat.keepsLease(NOW)).toBe(true);
  });

  it('WorkerHeartbeat keeps no lease from before the clock was put back', async () => {
    const heartbeat = heartbeatOf('a');
    await heartbeat.start({ repeats: true });
    const leasedAt = NOW + 1;
    world.clock.at = NOW - LEASE_MS;
    await heartbeat.beat();
    expect(heartbeat.keepsLease(leasedAt)).toBe(false);
    world.clock.at += 2;
    expect([heartbeat.keepsLease(world.clock.at - 1), heartbeat.keepsLease(world.clock.at)]).toEqual([
      true,
      true,
    ]);
  });

  it('WorkerHeartbeat keeps no lease while its first heartbeat is late, and one of the same instant once it is recorded', async () => {
    const heartbeat = heartbeatOf('a');
    const started = heartbeat.start({ repeats: true });
    expect(heartbeat.keepsLease(NOW)).toBe(false);
    await started;
    expect(heartbeat.keepsLease(NOW)).toBe(true);
  });

  it('WorkerHeartbeat keeps every lease when the clock is moved by hand', async () => {
    const heartbeat = heartbeatOf('a');
    await heartbeat.start({ repeats: false });
    world.clock.at = NOW + 60_000;
    expect(heartbeat.keepsLease(0)).toBe(true);
  });

  describe('another worker', () => {
    const leaseBy = (workerId: string) =>
      world.unitOfWork.run(({ jobs }) =>
        jobs.lease({ now: world.clock.at, until: world.clock.at + LEASE_MS, limit: 1, workerId }),
      );

    beforeEach(async () => {
      const jobs = [1, 2].map((n) => startAttemptJob(aMessage({ smsId: anSmsId(n) }), 0, NOW));
      await world.unitOfWork.run((stores) => stores.jobs.add(jobs, NOW));
    });

    it('WorkerHeartbeat hands back the jobs of a worker that is gone, once, and wakes the work loop', async () => {
      const heartbeat = heartbeatOf('a');
      await heartbeatOf('gone').beat();
      await leaseBy('gone');
      world.clock.at = NOW + 3_001;
      await leaseBy('a');
      for (let second = 1; second <= 3; second += 1) {
        world.clock.at = NOW + second * 1_000;
        await heartbeat.beat();
      }
      expect(await leaseBy('a')).toEqual([]);
      world.clock.at = NOW + 4_000;
      await heartbeat.beat();
      expect(world.logger.entries).toEqual([
        { level: 'warn', event: 'jobs_taken_over', fields: { workers: 1, jobs: 1 } },
      ]);
      expect(wakes).toBe(1);
      expect((await leaseBy('a')).map(({ id }) => id)).toEqual([`${anSmsId(1)}/start/0`]);
      world.clock.at = NOW + 4_000;
      await heartbeat.beat();
      expect(wakes).toBe(1);
      expect(durabilities.every((durability) => durability === 'eventual')).toBe(true);
    });

    it('WorkerHeartbeat says nothing of a worker that is gone and had no jobs', async () => {
      const heartbeat = heartbeatOf('a');
      await heartbeatOf('gone').beat();
      for (let heartbeats = 0; heartbeats < 5; heartbeats += 1) await heartbeat.beat();
      expect(world.logger.entries).toEqual([]);
      expect(wakes).toBe(0);
    });

    it('WorkerHeartbeat hands back its own jobs of messages that a gone worker may have taken from the queue a second ago', async () => {
      const heartbeat = heartbeatOf('a');
      await heartbeatOf('gone').beat();
      for (let heartbeats = 0; heartbeats < 3; heartbeats += 1) await heartbeat.beat();
      const webhook = deliverWebhooksJob({ projectId: 'p1', endpoint: 'https://example.test/' }, NOW);
      await world.unitOfWork.run((stores) => stores.jobs.add([webhook], NOW));
      await leaseBy('a');
      world.clock.at = NOW + 1;
      await leaseBy('a');
      world.clock.at = NOW;
      expect(await leaseBy('a')).toMatchObject([{ id: webhook.id }]);
      world.clock.at = NOW + 1_000;
      await heartbeat.beat();
      expect(world.logger.entries).toEqual([
        { level: 'warn', event: 'jobs_taken_over', fields: { workers: 1, jobs: 1 } },
      ]);
      expect((await leaseBy('b')).map(({ id }) => id)).toEqual([`${anSmsId(1)}/start/0`]);
    });

    it('WorkerHeartbeat hands back none of its own jobs while nobody is gone', async () => {
      const heartbeat = heartbeatOf('a');
      await leaseBy('a');
      for (let second = 1; second <= 14; second += 1) {
        world.clock.at = NOW + second * 1_000;
        await heartbeatOf('other').beat();
        await heartbeat.beat();
      }
      expect((await leaseBy('b')).map(({ id }) => id)).toEqual([`${anSmsId(2)}/start/0`]);
      expect(world.logger.entries).toEqual([]);
    });

    it('WorkerHeartbeat takes over with its next heartbeat when the database was away at the first', async () => {
      const heartbeat = heartbeatOf('a');
      await heartbeatOf('gone').beat();
      await leaseBy('gone');
      for (let heartbeats = 0; heartbeats < 3; heartbeats += 1) await heartbeat.beat();
      // The heartbeat is recorded, and then the jobs cannot be handed back.
      isAwayAfter = 1;
      await heartbeat.beat();
      expect(world.logger.count('worker_heartbeat_failed')).toBe(1);
      isAwayAfter = null;
      await heartbeat.beat();
      expect(world.logger.count('jobs_taken_over')).toBe(1);
    });

    it('WorkerHeartbeat hands nothing back when it stops: another process may do what it has leased', async () => {
      const heartbeat = heartbeatOf('a');
      await heartbeat.beat();
      await leaseBy('a');
      await heartbeat.stop();
      expect((await leaseBy('b')).map(({ id }) => id)).toEqual([`${anSmsId(2)}/start/0`]);
      expect(await leaseBy('b')).toEqual([]);
    });

    it('WorkerHeartbeat takes over from a worker whose clock is ahead by as much as clocks may differ', async () => {
      const heartbeat = heartbeatOf('a');
      await heartbeatOf('gone').beat();
      world.clock.at = NOW + 60_000;
      await leaseBy('gone');
      world.clock.at = NOW;
      for (let heartbeats = 0; heartbeats < 4; heartbeats += 1) await heartbeat.beat();
      expect((await leaseBy('a')).map(({ id }) => id)).toEqual([`${anSmsId(1)}/start/0`]);
    });

    it('WorkerHeartbeat takes over from a worker whose clock was further ahead, by its last heartbeat', async () => {
      const heartbeat = heartbeatOf('a');
      world.clock.at = NOW + 600_000;
      await heartbeatOf('gone').beat();
      await leaseBy('gone');
      world.clock.at = NOW;
      for (let heartbeats = 0; heartbeats < 4; heartbeats += 1) await heartbeat.beat();
      expect((await leaseBy('a')).map(({ id }) => id)).toEqual([`${anSmsId(1)}/start/0`]);
    });

    it('WorkerHeartbeat takes over what a gone worker has leased while it was counted', async () => {
      const heartbeat = heartbeatOf('a');
      await heartbeatOf('gone').beat();
      for (let heartbeats = 0; heartbeats < 4; heartbeats += 1) await heartbeat.beat();
      // A transaction of the worker that was on its way still.
      await leaseBy('gone');
      await heartbeat.beat();
      expect(world.logger.count('jobs_taken_over')).toBe(1);
    });
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  WORKER_HEARTBEAT_MS,
  WORKER_KEPT_MS,
  WORKER_SEEN_MS,
  WorkerHeartbeat,
} from '../../../src/application/jobs/worker-heartbeat.ts';
import type { Durability } from '../../../src/application/ports/unit-of-work.ts';
import { StorageUnavailable } from '../../../src/application/storage-unavailable.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { NOW } from '../../support/builders.ts';

let world: ApplicationWorld;
/** Ends the interval that a heartbeat waits for; null while none waits. */
let endInterval: (() => void) | null;
let isAway: boolean;
/** Of every unit of work. */
let durabilities: (Durability | undefined)[];

beforeEach(async () => {
  world = await openApplication({ projects: [] });
  endInterval = null;
  isAway = false;
  durabilities = [];
});
afterEach(() => world.close());

function heartbeatOf(id: string): WorkerHeartbeat {
  return new WorkerHeartbeat({
    unitOfWork: {
      run(work, durability) {
        durabilities.push(durability);
        return isAway
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
    ids: { hex24: () => id, fraction: () => 0 },
    logger: world.logger,
  });
}

const rows = () => world.database.knex('workers').select('id', 'seen_at').orderBy('id');

describe('WorkerHeartbeat', () => {
  it('a worker beats every 5 seconds, counts for 15 seconds and is kept for a day', () => {
    expect([WORKER_HEARTBEAT_MS, WORKER_SEEN_MS, WORKER_KEPT_MS]).toEqual([5_000, 15_000, 86_400_000]);
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
      await vi.waitUntil(() => endInterval !== null);
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

  it('WorkerHeartbeat removes workers that were not seen for more than a day', async () => {
    await world.unitOfWork.run(async ({ workers }) => {
      await workers.markSeen('gone', NOW - 86_400_001);
      await workers.markSeen('kept', NOW - 86_400_000);
    });
    await heartbeatOf('a').beat();
    expect((await rows()).map(({ id }) => id)).toEqual(['a', 'kept']);
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
});

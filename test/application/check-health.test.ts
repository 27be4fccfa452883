import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckHealth, HEALTH_FRESH_MS, JOBS_WAIT_MAX_MS } from '../../src/application/check-health.ts';
import { StorageUnwritable } from '../../src/application/errors/storage-unavailable.ts';
import { startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import { UNLIMITED_CAPACITY } from '../../src/domain/providers/provider-capacity.ts';
import { type ApplicationWorld, openApplication } from '../support/application-world.ts';
import { aMessage, NOW } from '../support/builders.ts';

const WELL = { name: 'database', ok: true, critical: true, detail: 'responds' };
const DOWN = { name: 'database', ok: false, critical: true, detail: 'does not respond' };
const QUEUE = { name: 'queue', ok: true, critical: false, detail: 'carries jobs' };

const JOBS = { name: 'jobs', ok: true, critical: false, detail: 'none due' };
const WORKERS = { name: 'workers', ok: true, critical: false, detail: '1 seen, the last one 0 s ago' };
const [JOBS_UNKNOWN, WORKERS_UNKNOWN] = [JOBS, WORKERS].map((each) => ({
  ...each,
  ok: false,
  detail: 'unknown while the database is away',
}));

const NO_PROVIDER = 'no provider: live projects do not have this channel';
const SMS = { name: 'sms', ok: true, critical: false, detail: 'bound to the SMSC' };
const CHANNELS = [
  SMS,
  { name: 'whatsapp', ok: true, critical: false, detail: NO_PROVIDER },
  { name: 'telegram', ok: true, critical: false, detail: NO_PROVIDER },
];

let smsIsWell: boolean;
let now: number;
/** The pings of the database; the test ends each of them. */
let asked: { reply: () => void; fail: (error?: Error) => void }[];
let unavailableReason: string | null;
let health: CheckHealth;
let world: ApplicationWorld;

beforeEach(async () => {
  world = await openApplication({ projects: [] });
  await seeWorker('first');
  smsIsWell = true;
  now = NOW;
  asked = [];
  unavailableReason = null;
  const never = () => Promise.reject(new Error('a check does nothing but ask'));
  health = new CheckHealth({
    unitOfWork: {
      run: never,
      read: (work) => world.unitOfWork.read(work),
      ping: () =>
        new Promise((resolve, reject) => {
          asked.push({ reply: resolve, fail: (error = new Error('away')) => reject(error) });
        }),
    },
    jobQueue: {
      publish: never,
      consume: never,
      availableCapacity: never,
      idle: never,
      unavailableReason: () => unavailableReason,
      close: never,
    },
    channelProviders: {
      live: () => [
        {
          channel: 'sms',
          provider: {
            name: 'smsc',
            start: never,
            submit: never,
            close: never,
            whenHandedOver: () => {},
            capacity: () => UNLIMITED_CAPACITY,
            health: () => ({ ok: smsIsWell, detail: 'bound to the SMSC' }),
            check: never,
          },
        },
      ],
    },
    clock: { now: () => now },
  });
});

afterEach(() => world.close());

const seeWorker = (id: string, at = NOW) => world.unitOfWork.run(({ workers }) => workers.markSeen(id, at));

/** What is said of jobs and workers at an instant. */
async function workAt(instant: number): Promise<unknown> {
  now = instant;
  const readiness = health.readiness();
  asked.at(-1)?.reply();
  const { ready, dependencies } = await readiness;
  expect(ready).toBe(true);
  return dependencies.filter(({ name }) => name === 'jobs' || name === 'workers');
}

/** Asks once; the database responds. */
async function askWell(): Promise<void> {
  const reply = health.readiness();
  asked.at(-1)?.reply();
  expect(await reply).toEqual({ ready: true, dependencies: [WELL, QUEUE, JOBS, WORKERS, ...CHANNELS] });
}

describe('CheckHealth', () => {
  it('CheckHealth asks the database once for all callers of the same moment', async () => {
    const replies = Array.from({ length: 1_000 }, () => health.readiness());
    expect(asked).toHaveLength(1);
    asked[0]?.reply();
    for (const reply of await Promise.all(replies)) {
      expect(reply).toEqual({ ready: true, dependencies: [WELL, QUEUE, JOBS, WORKERS, ...CHANNELS] });
    }
  });

  it('CheckHealth takes a database that responded to be well for a second', async () => {
    expect(HEALTH_FRESH_MS).toBe(1_000);
    await askWell();
    now = NOW + 999;
    expect(await health.readiness()).toEqual({
      ready: true,
      dependencies: [WELL, QUEUE, JOBS, WORKERS, ...CHANNELS],
    });
    expect(asked).toHaveLength(1);
    now = NOW + 1_000;
    await seeWorker('first', now);
    await askWell();
    expect(asked).toHaveLength(2);
  });

  it('CheckHealth asks again when the clock was set back', async () => {
    await askWell();
    now = NOW - 60_000;
    await askWell();
    expect(asked).toHaveLength(2);
  });

  it('CheckHealth shares a bad result, and asks anew for the next caller', async () => {
    const replies = [health.readiness(), health.readiness()];
    asked[0]?.fail();
    const down = {
      ready: false,
      dependencies: [DOWN, QUEUE, JOBS_UNKNOWN, WORKERS_UNKNOWN, ...CHANNELS],
    };
    expect(await Promise.all(replies)).toEqual([down, down]);
    expect(asked).toHaveLength(1);
    await askWell();
    expect(asked).toHaveLength(2);
  });

  it('CheckHealth is not ready while the database stores nothing, and still shows jobs and workers', async () => {
    const reply = health.readiness();
    asked[0]?.fail(new StorageUnwritable('the disk is full', new Error('SQLITE_FULL')));
    expect(await reply).toEqual({
      ready: false,
      dependencies: [
        { ...DOWN, detail: 'stores nothing: the disk is full' },
        QUEUE,
        JOBS,
        WORKERS,
        ...CHANNELS,
      ],
    });
    await askWell();
    expect(asked).toHaveLength(2);
  });

  it('CheckHealth knows of the queue and of the stop at once', async () => {
    await askWell();
    unavailableReason = 'not reachable';
    const queue = { ...QUEUE, ok: false, detail: 'not reachable' };
    expect(await health.readiness()).toEqual({
      ready: true,
      dependencies: [WELL, queue, JOBS, WORKERS, ...CHANNELS],
    });
    health.noteStopping();
    expect(await health.readiness()).toEqual({
      ready: false,
      dependencies: [WELL, queue, JOBS, WORKERS, ...CHANNELS],
    });
    expect(asked).toHaveLength(1);
  });

  it('CheckHealth shows a provider that is not well, and is ready all the same', async () => {
    smsIsWell = false;
    const reply = health.readiness();
    asked.at(-1)?.reply();
    expect(await reply).toMatchObject({
      ready: true,
      dependencies: [WELL, QUEUE, JOBS, WORKERS, { ...SMS, ok: false }, {}, {}],
    });
  });

  it('CheckHealth says how long the oldest due job has waited, and that a minute is too long', async () => {
    expect(JOBS_WAIT_MAX_MS).toBe(60_000);
    await world.unitOfWork.run(({ jobs }) => jobs.add([startAttemptJob(aMessage(), 0, NOW + 1_000)], NOW));
    await seeWorker('first', NOW + 61_000);
    expect(await workAt(NOW)).toMatchObject([JOBS, {}]);
    expect(await workAt(NOW + 13_999)).toMatchObject([
      { ...JOBS, detail: 'the oldest due job has waited 12 s' },
      {},
    ]);
    expect(await workAt(NOW + 61_000)).toMatchObject([
      { ...JOBS, detail: 'the oldest due job has waited 60 s' },
      {},
    ]);
    expect(await workAt(NOW + 62_000)).toMatchObject([
      { ...JOBS, ok: false, detail: 'the oldest due job has waited 61 s' },
      {},
    ]);
  });

  it('CheckHealth says how many workers were seen in the last 15 seconds, and when the last one was', async () => {
    await seeWorker('second', NOW + 5_000);
    expect(await workAt(NOW + 15_000)).toEqual([
      JOBS,
      { ...WORKERS, detail: '2 seen, the last one 10 s ago' },
    ]);
    expect(await workAt(NOW + 20_000)).toEqual([
      JOBS,
      { ...WORKERS, detail: '1 seen, the last one 15 s ago' },
    ]);
    expect(await workAt(NOW + 21_000)).toEqual([
      JOBS,
      { ...WORKERS, ok: false, detail: 'none seen for 16 s' },
    ]);
    await world.database.knex('workers').delete();
    expect(await workAt(NOW + 22_000)).toEqual([JOBS, { ...WORKERS, ok: false, detail: 'none seen' }]);
  });

  it('CheckHealth counts a worker whose clock is ahead as seen now', async () => {
    await seeWorker('first', NOW + 3_000);
    expect(await workAt(NOW)).toEqual([JOBS, WORKERS]);
  });
});

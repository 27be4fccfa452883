import { beforeEach, describe, expect, it } from 'vitest';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { type StartCampaignWork, startCampaignJob } from '../../../src/application/jobs/campaign-jobs.ts';
import {
  PROJECT_JOBS_HELD_PER_PROJECT_MAX,
  ProjectJobRunner,
} from '../../../src/application/jobs/project-job-runner.ts';
import type { RecordJobFailure } from '../../../src/application/jobs/record-job-failure.ts';
import type { RenewLeases } from '../../../src/application/jobs/renew-leases.ts';
import type { LeasedJob } from '../../../src/domain/jobs/job.ts';
import { anId, NOW } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { uncancelled } from '../../support/uncancelled.ts';

const LOCKED = new StorageLocked(new Error('locked'));

type StartJob = LeasedJob<StartCampaignWork>;

const jobOf = (project: number, campaign: number): StartJob => {
  const { id, work } = startCampaignJob({ id: anId(campaign), projectId: anId(project) }, NOW);
  return { id, work, fencingToken: 1 };
};
const jobsOf = (project: number, count: number): readonly StartJob[] =>
  Array.from({ length: count }, (_, index) => jobOf(project, 1_000 * project + index));
const round = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('jobs of projects', () => {
  let runner: ProjectJobRunner;
  let background: BackgroundWork;
  /** The jobs that were begun, in their order. */
  let begun: StartJob[];
  let ends: Map<StartJob, (error?: unknown) => void>;
  let pauses: (() => void)[];
  let failures: unknown[];
  let wakes: number;
  let busyMs: number;
  let breaks: { readonly ms: number; readonly over: () => void }[];
  /** The ids of jobs that another process has. */
  let lost: Set<string>;
  let isDatabaseAway: boolean;

  beforeEach(() => {
    begun = [];
    ends = new Map();
    pauses = [];
    failures = [];
    wakes = 0;
    busyMs = 0;
    breaks = [];
    lost = new Set();
    isDatabaseAway = false;
    background = new BackgroundWork({ logger: new RecordingLogger() });
    const ports = {
      clock: { now: () => NOW },
      lockRetryDelay: uncancelled((over) => pauses.push(over)),
      wakeSignal: {
        wake() {
          wakes += 1;
        },
      },
      eventLoop: {
        busyMs: () => busyMs,
        pause: (ms: number) => new Promise<void>((over) => void breaks.push({ ms, over })),
      },
      renewInterval: () => () => {},
      renewLeases: {
        execute: async (job: LeasedJob) => {
          if (isDatabaseAway) throw new Error('away');
          return lost.has(job.id) ? null : { at: NOW, until: NOW };
        },
      } as unknown as RenewLeases,
      recordJobFailure: {
        execute: async (_job: LeasedJob, error: unknown) => void failures.push(error),
      } as unknown as RecordJobFailure,
      background,
    };
    runner = new ProjectJobRunner(ports, { perProject: 1, all: 2, isPaced: true });
  });

  const begin = (jobs: readonly StartJob[]) =>
    runner.begin(
      jobs,
      (job) =>
        new Promise<void>((resolve, reject) => {
          begun.push(job);
          ends.set(job, (error) => (error === undefined ? resolve() : reject(error)));
        }),
    );
  /** Ends a job, and lets what waits for it begin. */
  const end = async (job: StartJob | undefined, error?: unknown): Promise<void> => {
    if (job !== undefined) ends.get(job)?.(error);
    await round();
  };

  it('a batch resolves at once, and its jobs are done one of each project at a time, by project in rotation', async () => {
    const [a, b, c] = [jobsOf(1, 3), jobsOf(2, 1), jobsOf(3, 1)];
    await begin([...a, ...b, ...c]);
    await round();
    expect(begun).toEqual([a[0], b[0]]);
    await end(a[0]);
    expect(begun.slice(2)).toEqual([a[1]]);
    await end(a[1]);
    expect(begun.slice(3)).toEqual(c);
    expect(wakes).toBe(2);
  });

  it('a job that meets a lock pauses, and its project holds up no other', async () => {
    const [locked, other, third] = [jobsOf(1, 2), jobsOf(2, 1), jobsOf(3, 1)];
    await begin([...locked, ...other, ...third]);
    await round();
    await end(locked[0], LOCKED);
    expect(begun).toEqual([locked[0], other[0], third[0]]);
    await end(other[0]);
    expect(begun).toHaveLength(3);
    pauses[0]?.();
    await round();
    expect(begun.slice(3)).toEqual([locked[0]]);
    await end(locked[0]);
    expect(begun.slice(4)).toEqual([locked[1]]);
    expect(failures).toEqual([]);
  });

  it('a job that the process does not have is not begun, and takes the place of none', async () => {
    const jobs = jobsOf(1, PROJECT_JOBS_HELD_PER_PROJECT_MAX + 1);
    for (const { id } of jobs.slice(1)) lost.add(id);
    await begin(jobs.slice(1));
    await round();
    await begin(jobs.slice(0, 1));
    await round();
    expect(begun).toEqual([jobs[0]]);
  });

  it('a job is begun while nobody knows whether its lease is held: without a database it fails by itself', async () => {
    isDatabaseAway = true;
    const jobs = jobsOf(1, 1);
    await begin(jobs);
    await round();
    expect(begun).toEqual(jobs);
  });

  it('a job that is handed over again under its lease is begun once', async () => {
    const [job] = jobsOf(1, 1);
    if (job === undefined) throw new Error('There is a job');
    await begin([job, { ...job }]);
    await begin([{ ...job }]);
    await round();
    await end(job);
    expect(begun).toEqual([job]);
    await begin([{ ...job, fencingToken: 2 }]);
    await round();
    expect(begun).toEqual([job, { ...job, fencingToken: 2 }]);
  });

  it('behind a job that keeps the event loop busy no job begins for twice as long', async () => {
    const [first, second, other] = [...jobsOf(1, 2), ...jobsOf(2, 1)];
    if (first === undefined || second === undefined || other === undefined)
      throw new Error('There are three jobs');
    await begin([first, second, other]);
    await round();
    busyMs += 30;
    await end(first);
    expect([breaks.map(({ ms }) => ms), begun]).toEqual([[60], [first, other]]);
    busyMs += 1_000;
    await end(other);
    // No job computes for longer than 100 ms.
    expect([breaks.map(({ ms }) => ms), begun]).toEqual([
      [60, 200],
      [first, other],
    ]);
    breaks[0]?.over();
    await round();
    expect(begun).toEqual([first, other]);
    breaks[1]?.over();
    await round();
    expect(begun).toEqual([first, other, second]);
    busyMs += 5;
    await end(second);
    expect(breaks).toHaveLength(2);
  });

  it('a job that fails is recorded, and the next one is begun', async () => {
    const jobs = jobsOf(1, 2);
    await begin(jobs);
    await round();
    const failure = new Error('planted');
    await end(jobs[0], failure);
    expect([failures, begun]).toEqual([[failure], jobs]);
  });

  it('more jobs of a project than may wait are left, and those of another are not', async () => {
    const [many, other] = [jobsOf(1, PROJECT_JOBS_HELD_PER_PROJECT_MAX + 1), jobsOf(2, 1)];
    await begin([...many, ...other]);
    await round();
    await end(other[0]);
    for (let done = 0; done < PROJECT_JOBS_HELD_PER_PROJECT_MAX; done += 1) await end(many[done]);
    await background.idle();
    expect(begun).toHaveLength(PROJECT_JOBS_HELD_PER_PROJECT_MAX + 1);
    expect(begun).not.toContain(many.at(-1));
    await begin(many.slice(-1));
    await round();
    expect(begun.at(-1)).toBe(many.at(-1));
  });

  it('nothing that waits is begun after the stop', async () => {
    const jobs = jobsOf(1, 3);
    await begin(jobs);
    await round();
    background.stop();
    await end(jobs[0]);
    await background.idle();
    expect([begun, failures]).toEqual([[jobs[0]], []]);
  });
});

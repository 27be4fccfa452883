import { beforeEach, expect, it } from 'vitest';
import type { PendingSubmission } from '../../src/application/attempts/advance-messages.ts';
import type { ApplyMessageEvents } from '../../src/application/attempts/apply-message-events.ts';
import { CommitAttempts } from '../../src/application/attempts/commit-attempts.ts';
import type { RevokeAttempts } from '../../src/application/attempts/revoke-attempts.ts';
import { RunAttemptJobs } from '../../src/application/attempts/run-attempt-jobs.ts';
import { StartWaitingAttempts } from '../../src/application/attempts/start-waiting-attempts.ts';
import { SubmissionCapacity } from '../../src/application/attempts/submission-capacity.ts';
import type { SubmitAttempts } from '../../src/application/attempts/submit-attempts.ts';
import { START_WAIT_MS, WaitingStarts } from '../../src/application/attempts/waiting-starts.ts';
import { BackgroundWork } from '../../src/application/concurrency/background-work.ts';
import { type AttemptWork, startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import type { ChannelProvider } from '../../src/application/ports/channel-provider.ts';
import type { LeasedJob } from '../../src/domain/jobs/job.ts';
import { WAITING_MIN } from '../../src/domain/providers/waiting-limits.ts';
import { advanceMessagesWith } from '../support/advance-messages.ts';
import { aMessage, aNewAccount, anSmsId, aProject, NOW, SECOND_MS } from '../support/builders.ts';
import { LossyUnitOfWork } from '../support/lossy-unit-of-work.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { uncancelled } from '../support/uncancelled.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const SMS_IDS = [anSmsId(1), anSmsId(2)];
const JOBS_MAX = 10;

/** What starting attempts promises when the database is lost, and when their provider has no capacity for all. */
export function runAttemptJobsContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  let now = NOW;
  const clock = { now: () => now };
  /** How many more submissions go out at once, and none waits. */
  let free = Number.POSITIVE_INFINITY;
  const provider = {
    name: 'smsc',
    whenHandedOver() {},
    capacity: () => ({ free, waiting: WAITING_MIN, ahead: WAITING_MIN }),
  } as unknown as ChannelProvider;

  beforeEach(() => {
    now = NOW;
    free = Number.POSITIVE_INFINITY;
  });

  /** One process that starts attempts. It reads again what it may have started when `check` is called. */
  function aProcess() {
    const unitOfWork = new LossyUnitOfWork(storage.unitOfWork);
    const logger = new RecordingLogger();
    const background = new BackgroundWork({ logger });
    const submitted: string[] = [];
    const pending: PendingSubmission[] = [];
    const submissionCapacity = new SubmissionCapacity({ inFlightMax: 2 });
    const waitingStarts = new WaitingStarts({ submissionCapacity, clock });
    const delays: (() => void)[] = [];
    const applyMessageEvents = {
      keptUp: async () => {},
      isLocked: () => false,
    } as unknown as ApplyMessageEvents;
    const commitAttempts = new CommitAttempts({
      unitOfWork,
      advanceMessages: advanceMessagesWith({ clock, provider, submissionCapacity, waitingStarts }),
      applyMessageEvents,
      submitAttempts: {
        async execute(started: readonly PendingSubmission[]) {
          pending.push(...started);
          free -= started.length;
          submitted.push(...started.map(({ message }) => message.smsId));
        },
      } as unknown as SubmitAttempts,
      waitingStarts,
      revokeAttempts: { start() {} } as unknown as RevokeAttempts,
      background,
      resultRetryDelay: uncancelled((over) => delays.push(over)),
    });
    const runAttemptJobs = new RunAttemptJobs({ commitAttempts, unitOfWork, applyMessageEvents, background });
    const startWaiting = new StartWaitingAttempts({
      waitingStarts,
      commitAttempts,
      applyMessageEvents,
      background,
    });
    return {
      unitOfWork,
      logger,
      background,
      submitted,
      pending,
      submissionCapacity,
      delays,
      stop() {
        commitAttempts.stop();
        startWaiting.stop();
      },
      /** The provider has so much capacity now, because a submission has its result. */
      async settle(capacity: number) {
        free = capacity;
        waitingStarts.mayHaveCapacity(provider);
        await new Promise((resolve) => setImmediate(resolve));
        await background.idle();
      },
      run: (jobs: readonly LeasedJob<AttemptWork>[]) => runAttemptJobs.execute(jobs),
      async check() {
        delays.shift()?.();
        await background.idle();
      },
    };
  }

  /** Messages that wait for their first attempt. */
  async function prepare(): Promise<void> {
    await storage.run(async (stores) => {
      const messages = SMS_IDS.map((smsId) => aMessage({ smsId, channels: ['sms'], attempts: [] }));
      await stores.projects.insert([aProject()]);
      await stores.accounts.insert([aNewAccount()]);
      await stores.messages.insert(messages);
      await stores.jobs.add(
        messages.map((message) => startAttemptJob(message, 0, NOW)),
        NOW,
      );
    });
  }

  /** The jobs that are due `leases` leases later. */
  async function lease(leases = 0): Promise<readonly LeasedJob<AttemptWork>[]> {
    const at = now + leases * 15 * SECOND_MS;
    const jobs = await storage.run((stores) =>
      stores.jobs.lease({ workerId: 'worker', now: at, until: at + 15 * SECOND_MS, limit: JOBS_MAX }),
    );
    return jobs as readonly LeasedJob<AttemptWork>[];
  }

  /** Every job there is. */
  const jobs = () => lease(1_000);

  it('attempts are submitted once when their start was committed and only the reply was lost', async () => {
    await prepare();
    const { unitOfWork, submitted, delays, run, check } = aProcess();
    unitOfWork.losses = ['after-commit'];
    await expect(run(await lease())).rejects.toThrow('lost after the commit');
    expect(submitted).toEqual([]);
    await check();
    expect([submitted.toSorted(), delays, await lease(1)]).toEqual([SMS_IDS, [], []]);
  });

  it('attempts whose start was not committed are submitted by the process that starts them, at whatever instant', async () => {
    await prepare();
    const [first, second] = [aProcess(), aProcess()];
    first.unitOfWork.losses = ['before-commit'];
    await expect(first.run(await lease())).rejects.toThrow('lost before the commit');
    await second.run(await lease(1));
    await second.background.idle();
    await first.check();
    expect([first.submitted, second.submitted.toSorted()]).toEqual([[], SMS_IDS]);
  });

  it('an attempt that ended before the database was back is not submitted', async () => {
    await prepare();
    const { unitOfWork, submitted, run, check } = aProcess();
    unitOfWork.losses = ['after-commit'];
    await expect(run(await lease())).rejects.toThrow('lost after the commit');
    await storage.run(async ({ messages }) => {
      const locked = await messages.lock([anSmsId(1)]);
      await messages.save(locked.map((each) => ({ ...each, status: 'failed', isFinal: true, finalAt: NOW })));
    });
    await check();
    expect(submitted).toEqual([anSmsId(2)]);
  });

  it('what was started is read again until the database is back, and once more when the service stops', async () => {
    await prepare();
    const { unitOfWork, logger, background, submitted, delays, stop, run, check } = aProcess();
    unitOfWork.losses = ['after-commit', 'after-commit', 'before-commit', 'before-commit'];
    await expect(run(await lease())).rejects.toThrow('lost after the commit');
    for (let tries = 1; tries <= 2; tries += 1) {
      const before = unitOfWork.transactions;
      delays.shift()?.();
      await expect.poll(() => [unitOfWork.transactions - before, delays.length]).toEqual([1, 1]);
    }
    expect(submitted).toEqual([]);
    stop();
    await check();
    expect([submitted, delays, background.starts]).toEqual([[], [], 1]);
    expect(logger.entries).toMatchObject([{ event: 'background_work_failed' }]);
  });

  it('attempts for which the provider has no capacity begin when it has, and no job of their start is left', async () => {
    await prepare();
    const { submitted, run, settle } = aProcess();
    free = 1;
    await run(await lease());
    expect(submitted).toHaveLength(1);
    await settle(0);
    expect(submitted).toHaveLength(1);
    await settle(1);
    expect(submitted.toSorted()).toEqual(SMS_IDS);
    expect((await jobs()).map(({ work }) => work.kind)).toEqual(['attempt-deadline', 'attempt-deadline']);
  });

  it('attempts that waited begin also while their provider is at its limit', async () => {
    await prepare();
    const { submitted, submissionCapacity, run, settle } = aProcess();
    free = 0;
    await run(await lease());
    const key = { channel: 'sms', environment: 'live', provider: provider.name } as const;
    for (let count = 0; count < 2; count += 1) {
      submissionCapacity.begin(key, { priority: 'text', projectId: 'another' });
    }
    await settle(2);
    expect(submitted.toSorted()).toEqual(SMS_IDS);
  });

  it('attempts that wait are begun by another process when the one that let them wait is gone', async () => {
    await prepare();
    const [first, second] = [aProcess(), aProcess()];
    free = 0;
    await first.run(await lease());
    now = NOW + START_WAIT_MS - 1;
    expect(await lease()).toEqual([]);
    now += 1;
    await second.run(await lease());
    expect([first.submitted, second.submitted.toSorted()]).toEqual([[], SMS_IDS]);
    expect(second.pending.map(({ hasWaited }) => hasWaited)).toEqual([true, true]);
    await first.settle(2);
    expect(first.submitted).toEqual([]);
    expect((await jobs()).map(({ work }) => work.kind)).toEqual(['attempt-deadline', 'attempt-deadline']);
  });

  it('an attempt that another process began a moment before is not begun again, and keeps its deadline', async () => {
    await prepare();
    const [first, second] = [aProcess(), aProcess()];
    free = 0;
    await first.run(await lease());
    now = NOW + START_WAIT_MS;
    const due = await lease();
    now = NOW + START_WAIT_MS - 1;
    await second.run(due);
    await first.settle(2);
    expect([first.submitted, second.submitted.toSorted()]).toEqual([[], SMS_IDS]);
    expect((await jobs()).map(({ work }) => work.kind)).toEqual(['attempt-deadline', 'attempt-deadline']);
  });

  it('an attempt that its process began before its due job is run is begun once', async () => {
    await prepare();
    const [first, second] = [aProcess(), aProcess()];
    free = 0;
    await first.run(await lease());
    now = NOW + START_WAIT_MS;
    const due = await lease();
    now -= 1;
    await first.settle(2);
    await second.run(due);
    expect([first.submitted.toSorted(), second.submitted]).toEqual([SMS_IDS, []]);
  });

  it('an attempt whose message ended while it waited is not begun', async () => {
    await prepare();
    const { submitted, run, settle } = aProcess();
    free = 0;
    await run(await lease());
    await storage.run(async ({ messages }) => {
      const locked = await messages.lock([anSmsId(1)]);
      await messages.save(locked.map((each) => ({ ...each, status: 'failed', isFinal: true, finalAt: now })));
    });
    await settle(2);
    expect(submitted).toEqual([anSmsId(2)]);
  });

  it('attempts that wait begin by their jobs when the database fails while they are begun early', async () => {
    await prepare();
    const { unitOfWork, logger, submitted, delays, run, check, settle } = aProcess();
    free = 0;
    await run(await lease());
    unitOfWork.losses = ['before-commit'];
    const settled = settle(2);
    await expect.poll(() => delays.length).toBe(1);
    await check();
    await settled;
    expect([submitted, logger.entries]).toEqual([[], []]);
    now = NOW + START_WAIT_MS;
    await run(await lease());
    expect(submitted.toSorted()).toEqual(SMS_IDS);
  });

  it('attempts that wait are left to the next process once the service stops', async () => {
    await prepare();
    const { stop, submitted, run, settle } = aProcess();
    free = 0;
    await run(await lease());
    stop();
    await settle(2);
    expect([submitted, (await jobs()).length]).toEqual([[], 2]);
  });
}

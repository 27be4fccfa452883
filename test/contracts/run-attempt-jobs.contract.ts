import { expect, it } from 'vitest';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { CampaignLimits } from '../../src/application/campaigns/campaign-limits.ts';
import { BackgroundWork } from '../../src/application/concurrency/background-work.ts';
import { type MessageWork, startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import type { LeasedJob } from '../../src/application/jobs/job.ts';
import { AdvanceMessages, type PendingSubmission } from '../../src/application/messages/advance-messages.ts';
import type { ApplyMessageEvents } from '../../src/application/messages/apply-message-events.ts';
import type { RevokeAttempts } from '../../src/application/messages/revoke-attempts.ts';
import { RunAttemptJobs } from '../../src/application/messages/run-attempt-jobs.ts';
import { SubmissionCapacity } from '../../src/application/messages/submission-capacity.ts';
import type { SubmitAttempts } from '../../src/application/messages/submit-attempts.ts';
import { EnqueueWebhooks } from '../../src/application/webhooks/enqueue-webhooks.ts';
import { aMessage, aNewAccount, anSmsId, aProject, NOW, SECOND_MS } from '../support/builders.ts';
import { LossyUnitOfWork } from '../support/lossy-unit-of-work.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const SMS_IDS = [anSmsId(1), anSmsId(2)];
const JOBS_MAX = 10;

/** What starting attempts promises when the database is lost. Every process has the same clock, which stands still. */
export function runAttemptJobsContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const clock = { now: () => NOW };

  /** One process that starts attempts. It reads again what it may have started when `check` is called. */
  function aProcess() {
    const unitOfWork = new LossyUnitOfWork(storage.unitOfWork);
    const logger = new RecordingLogger();
    const background = new BackgroundWork({ logger });
    const submitted: string[] = [];
    const delays: (() => void)[] = [];
    const runAttemptJobs = new RunAttemptJobs({
      unitOfWork,
      advanceMessages: new AdvanceMessages({
        clock,
        ids: new RandomIdSource(),
        enqueueWebhooks: new EnqueueWebhooks({ clock, ids: new RandomIdSource() }),
        channelProviders: { route: () => [] },
        submissionCapacity: new SubmissionCapacity(),
        campaignLimits: new CampaignLimits({ keepsPlatformLimits: true }),
        restorePoint: { covers: () => false },
      }),
      applyMessageEvents: {
        keptUp: async () => {},
        isLocked: () => false,
      } as unknown as ApplyMessageEvents,
      submitAttempts: {
        async execute(pending: readonly PendingSubmission[]) {
          submitted.push(...pending.map(({ message }) => message.smsId));
        },
      } as unknown as SubmitAttempts,
      revokeAttempts: { start() {} } as unknown as RevokeAttempts,
      background,
      resultRetryDelay: (over) => delays.push(over),
    });
    return {
      unitOfWork,
      logger,
      background,
      submitted,
      delays,
      runAttemptJobs,
      run: (jobs: readonly LeasedJob<MessageWork>[]) => runAttemptJobs.execute(jobs),
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
      await stores.jobs.add(messages.map((message) => startAttemptJob(message, 0, NOW)));
    });
  }

  /** The jobs that are due `leases` leases later. */
  async function lease(leases = 0): Promise<readonly LeasedJob<MessageWork>[]> {
    const now = NOW + leases * 15 * SECOND_MS;
    const jobs = await storage.run((stores) =>
      stores.jobs.lease({ workerId: 'worker', now, until: now + 15 * SECOND_MS, limit: JOBS_MAX }),
    );
    return jobs as readonly LeasedJob<MessageWork>[];
  }

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
    const { unitOfWork, logger, background, submitted, delays, runAttemptJobs, run, check } = aProcess();
    unitOfWork.losses = ['after-commit', 'after-commit', 'before-commit', 'before-commit'];
    await expect(run(await lease())).rejects.toThrow('lost after the commit');
    for (let tries = 1; tries <= 2; tries += 1) {
      const before = unitOfWork.transactions;
      delays.shift()?.();
      await expect.poll(() => [unitOfWork.transactions - before, delays.length]).toEqual([1, 1]);
    }
    expect(submitted).toEqual([]);
    runAttemptJobs.stop();
    await check();
    expect([submitted, delays, background.starts]).toEqual([[], [], 1]);
    expect(logger.entries).toMatchObject([{ event: 'background_work_failed' }]);
  });
}

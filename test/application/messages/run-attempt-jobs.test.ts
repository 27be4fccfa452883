import { expect, it } from 'vitest';
import { BackgroundWork } from '../../../src/application/background-work.ts';
import { BATCH_ITEMS_MAX } from '../../../src/application/batcher.ts';
import type {
  AdvanceMessages,
  PendingSubmission,
} from '../../../src/application/messages/advance-messages.ts';
import { ApplyMessageEvents } from '../../../src/application/messages/apply-message-events.ts';
import type { CorrelateReceipts } from '../../../src/application/messages/correlate-receipts.ts';
import { RunAttemptJobs } from '../../../src/application/messages/run-attempt-jobs.ts';
import type { SubmitAttempts } from '../../../src/application/messages/submit-attempts.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { NOW } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Every commit waits until it is let through. Each job starts one attempt, whose submission does not end. */
function world() {
  const commits: (() => void)[] = [];
  const log: string[] = [];
  const database = { isAway: false };
  const logger = new RecordingLogger();
  const background = new BackgroundWork({ logger });
  const advanceMessages = {
    async execute(_stores: Stores, events: readonly unknown[], jobs: readonly unknown[] = []) {
      log.push(jobs.length > 0 ? `jobs ${jobs.length}` : `results ${events.length}`);
      return jobs.map(() => ({}) as PendingSubmission);
    },
  } as unknown as AdvanceMessages;
  const unitOfWork = {
    async run<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
      if (database.isAway) throw new Error('no database');
      const result = await work({} as Stores);
      await new Promise<void>((resolve) => commits.push(resolve));
      return result;
    },
  } as UnitOfWork;
  const applyMessageEvents = new ApplyMessageEvents({
    unitOfWork,
    correlateReceipts: {
      recordIds: async () => [],
      find: async () => ({ events: [], early: [] }),
    } as unknown as CorrelateReceipts,
    advanceMessages,
    wakeSignal: { wake() {} },
    clock: { now: () => NOW },
    logger,
  });
  const submitAttempts = { execute: () => new Promise(() => {}) } as unknown as SubmitAttempts;
  const runAttemptJobs = new RunAttemptJobs({
    unitOfWork,
    advanceMessages,
    applyMessageEvents,
    submitAttempts,
    background,
  });
  return {
    log,
    database,
    background,
    async commitAll() {
      for (const commit of commits.splice(0)) commit();
      await nextTurn();
    },
    run: () => runAttemptJobs.execute([{ id: 'sms-1/start/0', fencingToken: 1, work: {} as never }]),
    report: (results: number) =>
      applyMessageEvents.submitted(
        Array.from({ length: results }, (_, index) => ({
          smsId: `sms-${index}`,
          attemptNumber: 0,
          channel: 'sms',
          result: { kind: 'accepted', providerMessageIds: ['one'] },
        })),
      ),
  };
}

it('attempts do not start while more results wait for their commit than fit into one batch', async () => {
  const { log, commitAll, run, report } = world();
  const [one, two] = [report(BATCH_ITEMS_MAX), report(1)];
  const ran = run();
  await nextTurn();
  await nextTurn();
  expect(log).toEqual(['results 256']);
  await commitAll();
  await one;
  expect(log).toContain('jobs 1');
  await commitAll();
  await commitAll();
  await Promise.all([two, ran]);
  expect(log.toSorted()).toEqual(['jobs 1', 'results 1', 'results 256']);
});

it('attempts start while one batch of results waits for its commit', async () => {
  const { log, commitAll, run, report } = world();
  const reported = report(BATCH_ITEMS_MAX);
  const ran = run();
  await nextTurn();
  expect(log.toSorted()).toEqual(['jobs 1', 'results 256']);
  await commitAll();
  await Promise.all([reported, ran]);
});

it('attempts start although a provider does not respond to earlier submissions', async () => {
  const { log, background, commitAll, run } = world();
  const first = run();
  await nextTurn();
  await commitAll();
  await first;
  const second = run();
  await nextTurn();
  await commitAll();
  await second;
  expect(log).toEqual(['jobs 1', 'jobs 1']);
  expect(background.starts).toBe(2);
});

it('results that cannot be committed do not keep attempts from starting', async () => {
  const { log, database, run, report, commitAll } = world();
  database.isAway = true;
  await expect(report(BATCH_ITEMS_MAX + 1)).rejects.toThrow('no database');
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  database.isAway = false;
  const ran = run();
  await nextTurn();
  await commitAll();
  await ran;
  expect(log).toEqual(['jobs 1']);
});

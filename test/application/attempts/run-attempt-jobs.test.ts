import { expect, it } from 'vitest';
import {
  type AdvanceMessages,
  type MessageBatch,
  NO_WORK,
  type PendingRevocation,
  type PendingSubmission,
} from '../../../src/application/attempts/advance-messages.ts';
import { ApplyMessageEvents } from '../../../src/application/attempts/apply-message-events.ts';
import { CommitAttempts } from '../../../src/application/attempts/commit-attempts.ts';
import type { CorrelateReceipts } from '../../../src/application/attempts/correlate-receipts.ts';
import type { RevokeAttempts } from '../../../src/application/attempts/revoke-attempts.ts';
import { RunAttemptJobs } from '../../../src/application/attempts/run-attempt-jobs.ts';
import { StartWaitingAttempts } from '../../../src/application/attempts/start-waiting-attempts.ts';
import { SubmissionCapacity } from '../../../src/application/attempts/submission-capacity.ts';
import type { SubmitAttempts } from '../../../src/application/attempts/submit-attempts.ts';
import { START_WAIT_MS, WaitingStarts } from '../../../src/application/attempts/waiting-starts.ts';
import { BATCH_ITEMS_MAX } from '../../../src/application/batching/batch-queue.ts';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import type { AttemptWork } from '../../../src/application/jobs/attempt-jobs.ts';
import type { ChannelProvider } from '../../../src/application/ports/channel-provider.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { LockWait, UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { NOW } from '../../support/builders.ts';
import { Gate } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { uncancelled } from '../../support/uncancelled.ts';

const nextRound = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Every commit waits until it is let through. Each job starts one attempt, whose submission does not end; `revocations` follow
 * from each transaction. The log has the transactions, and what was revoked.
 */
function world(revocations: readonly PendingRevocation[] = []) {
  const commits: (() => void)[] = [];
  const log: string[] = [];
  const database = { isAway: false };
  const logger = new RecordingLogger();
  const background = new BackgroundWork({ logger });
  const advanceMessages = {
    async execute(_stores: Stores, { events = [], jobs = [] }: MessageBatch) {
      log.push(jobs.length > 0 ? `jobs ${jobs.length}` : `results ${events.length}`);
      return { ...NO_WORK, submissions: jobs.map(() => ({}) as PendingSubmission), revocations };
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
  const revokeAttempts = {
    start(some: readonly PendingRevocation[]) {
      for (const { providerMessageIds } of some) log.push(`revoke ${providerMessageIds}`);
    },
  } as RevokeAttempts;
  const applyMessageEvents = new ApplyMessageEvents({
    unitOfWork,
    correlateReceipts: {
      recordIds: async () => [],
      find: async () => ({ events: [], unmatched: [] }),
    } as unknown as CorrelateReceipts,
    advanceMessages,
    revokeAttempts,
    wakeSignal: { wake() {} },
    resultRetryDelay: uncancelled(setImmediate),
    clock: { now: () => NOW },
    logger,
  });
  const submitAttempts = { execute: () => new Promise(() => {}) } as unknown as SubmitAttempts;
  const commitAttempts = new CommitAttempts({
    unitOfWork,
    advanceMessages,
    applyMessageEvents,
    submitAttempts,
    waitingStarts: new WaitingStarts({
      submissionCapacity: new SubmissionCapacity(),
      clock: { now: () => NOW },
    }),
    revokeAttempts,
    background,
    resultRetryDelay: uncancelled(setImmediate),
  });
  const runAttemptJobs = new RunAttemptJobs({ commitAttempts, unitOfWork, applyMessageEvents, background });
  return {
    log,
    database,
    background,
    async commitAll() {
      for (const commit of commits.splice(0)) commit();
      await nextRound();
    },
    run: () => runAttemptJobs.execute([{ id: 'sms-1/start/0', fencingToken: 1, work: {} as never }]),
    report: (results: number) =>
      Promise.all(
        Array.from({ length: results }, (_, index) =>
          applyMessageEvents.submitted({
            smsId: `sms-${index}`,
            attemptNumber: 0,
            channel: 'sms',
            result: { kind: 'accepted', providerMessageIds: ['one'] },
          }),
        ),
      ),
  };
}

it('attempts do not start while more results wait for their commit than fit into one batch', async () => {
  const { log, commitAll, run, report } = world();
  const [one, two] = [report(BATCH_ITEMS_MAX), report(1)];
  const ran = run();
  await nextRound();
  await nextRound();
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
  await nextRound();
  expect(log.toSorted()).toEqual(['jobs 1', 'results 256']);
  await commitAll();
  await Promise.all([reported, ran]);
});

it('what a chain gave up on is revoked after the commit, by jobs and by submit results', async () => {
  const { log, commitAll, run, report } = world([{ channel: 'telegram', providerMessageIds: ['late'] }]);
  const ran = run();
  await nextRound();
  expect(log).toEqual(['jobs 1']);
  await commitAll();
  await ran;
  expect(log).toEqual(['jobs 1', 'revoke late']);
  const reported = report(1);
  await nextRound();
  expect(log.slice(2)).toEqual(['results 1']);
  await commitAll();
  await reported;
  expect(log.slice(2)).toEqual(['results 1', 'revoke late']);
});

it('attempts start although a provider does not respond to earlier submissions', async () => {
  const { log, background, commitAll, run } = world();
  const first = run();
  await nextRound();
  await commitAll();
  await first;
  const second = run();
  await nextRound();
  await commitAll();
  await second;
  expect(log).toEqual(['jobs 1', 'jobs 1']);
  expect(background.starts).toBe(2);
});

it('results that cannot be committed do not keep attempts from starting', async () => {
  const { log, database, run, report, commitAll } = world();
  database.isAway = true;
  await expect(report(BATCH_ITEMS_MAX + 1)).rejects.toThrow('no database');
  for (let turn = 0; turn < 5; turn += 1) await nextRound();
  database.isAway = false;
  const ran = run();
  await nextRound();
  await commitAll();
  await ran;
  expect(log).toEqual(['jobs 1']);
});

const SPACIOUS = {
  name: 'spacious',
  whenHandedOver() {},
  capacity: () => ({ free: 100, waiting: 0 }),
} as unknown as ChannelProvider;

/**
 * The ids of messages say their project, as `sms-a1` does. Project a is locked until `unlock` opens. The log has the
 * messages of each transaction that was committed.
 */
function lockedWorld() {
  const log: string[] = [];
  const unlock = new Gate();
  let isLocked = true;
  void unlock.opened.then(() => {
    isLocked = false;
  });
  let heldUp: readonly string[] = [];
  const projectOf = (smsId: string) => smsId.charAt(4);
  const advanceMessages = {
    async execute(
      stores: Stores,
      { events = [], readyStarts = [], jobs = [], isLocked: isHeldUp = () => false }: MessageBatch,
    ) {
      const smsIds = [...events, ...readyStarts, ...jobs.map(({ work }) => work)].map(({ smsId }) => smsId);
      if (isLocked && smsIds.some((smsId) => projectOf(smsId) === 'a')) {
        if ((stores as unknown as { lockWait: LockWait }).lockWait === 'brief') {
          throw new StorageLocked(new Error('lock timeout'));
        }
        await unlock.opened;
      }
      if (smsIds.includes('sms-p1')) throw new Error('poison');
      heldUp = ['a', 'b'].filter(isHeldUp);
      log.push(smsIds.join(' '));
      return NO_WORK;
    },
  } as unknown as AdvanceMessages;
  const messages = {
    projectIdsOf: async (smsIds: readonly string[]) =>
      new Map(smsIds.map((smsId) => [smsId, projectOf(smsId)])),
  };
  const unitOfWork = {
    run: (work, _durability, lockWait) => work({ lockWait, messages } as unknown as Stores),
    read: (work) => work({ messages } as unknown as Stores),
  } as UnitOfWork;
  const logger = new RecordingLogger();
  const background = new BackgroundWork({ logger });
  const revokeAttempts = { start() {} } as unknown as RevokeAttempts;
  const applyMessageEvents = new ApplyMessageEvents({
    unitOfWork,
    correlateReceipts: {
      recordIds: async () => [],
      find: async () => ({ events: [], unmatched: [] }),
      smsIdsOf: async () => [],
    } as unknown as CorrelateReceipts,
    advanceMessages,
    revokeAttempts,
    wakeSignal: { wake() {} },
    resultRetryDelay: uncancelled(setImmediate),
    clock: { now: () => NOW },
    logger,
  });
  const waitingStarts = new WaitingStarts({
    submissionCapacity: new SubmissionCapacity(),
    clock: { now: () => NOW },
  });
  const commitAttempts = new CommitAttempts({
    unitOfWork,
    advanceMessages,
    applyMessageEvents,
    submitAttempts: {} as SubmitAttempts,
    waitingStarts,
    revokeAttempts,
    background,
    resultRetryDelay: uncancelled(setImmediate),
  });
  const runAttemptJobs = new RunAttemptJobs({ commitAttempts, unitOfWork, applyMessageEvents, background });
  new StartWaitingAttempts({ waitingStarts, commitAttempts, applyMessageEvents, background });
  return {
    log,
    unlock,
    background,
    heldUp: () => heldUp,
    run: (kind: AttemptWork['kind'], ...smsIds: readonly string[]) =>
      runAttemptJobs.execute(
        smsIds.map((smsId) => ({
          id: `${smsId}/${kind}`,
          fencingToken: 1,
          work: { kind, smsId, attemptNumber: 0 },
        })),
      ),
    /** They waited for their provider, which has capacity for all. */
    begin: (...smsIds: readonly string[]) =>
      waitingStarts.add(
        smsIds.map((smsId) => ({
          smsId,
          attemptNumber: 0,
          provider: SPACIOUS,
          key: { channel: 'sms', environment: 'live', provider: SPACIOUS.name },
          others: [],
          backlog: { priority: 'code', projectId: projectOf(smsId) },
          jobDueAt: NOW + START_WAIT_MS,
          isAgain: false,
        })),
      ),
    report: (...smsIds: readonly string[]) =>
      Promise.all(
        smsIds.map((smsId) =>
          applyMessageEvents.submitted({
            smsId,
            attemptNumber: 0,
            channel: 'sms',
            result: { kind: 'accepted', providerMessageIds: [smsId] },
          }),
        ),
      ),
  };
}

it('the jobs of a project that meets a lock are done once it is released, and no other project waits for them', async () => {
  const { log, unlock, background, run } = lockedWorld();
  await run('attempt-deadline', 'sms-a1', 'sms-b1', 'sms-a2', 'sms-c1');
  expect(log).toEqual(['sms-b1', 'sms-c1']);
  await run('attempt-deadline', 'sms-b2', 'sms-a3', 'sms-c2');
  expect(log.slice(2)).toEqual(['sms-b2 sms-c2']);
  unlock.open();
  await background.idle();
  expect(log.slice(3)).toEqual(['sms-a1 sms-a2']);
  await run('attempt-deadline', 'sms-b3', 'sms-a3');
  expect(log.slice(4)).toEqual(['sms-b3 sms-a3']);
});

it('attempts that waited begin by project when they meet a lock, and those of the locked project by their jobs', async () => {
  const { log, background, begin } = lockedWorld();
  begin('sms-a1', 'sms-b1', 'sms-b2', 'sms-c1');
  await nextRound();
  await background.idle();
  expect(log.toSorted()).toEqual(['sms-b1 sms-b2', 'sms-c1']);
});

it('the jobs of a project of one kind do not wait for those of another kind that meet a lock', async () => {
  const { log, unlock, background, run } = lockedWorld();
  await run('attempt-deadline', 'sms-a1', 'sms-a2');
  expect([log, background.starts]).toEqual([[], 1]);
  await run('start-attempt', 'sms-a3', 'sms-b1');
  expect([log, background.starts]).toEqual([['sms-b1'], 2]);
  unlock.open();
  await background.idle();
  expect(log.slice(1).toSorted()).toEqual(['sms-a1 sms-a2', 'sms-a3']);
});

it('a job that cannot be done rejects its batch, also beside a project that meets a lock', async () => {
  const { log, unlock, background, run } = lockedWorld();
  await expect(run('attempt-deadline', 'sms-a1', 'sms-p1', 'sms-b1')).rejects.toThrow('poison');
  expect(log).toEqual(['sms-b1']);
  unlock.open();
  await background.idle();
});

it('results of a project that meets a lock hold up its own attempts only, however many they are', async () => {
  const { log, unlock, heldUp, run, report } = lockedWorld();
  const smsIds = Array.from({ length: 2 * BATCH_ITEMS_MAX }, (_, index) => `sms-a${index}`);
  const stuck = report('sms-b1', ...smsIds);
  await report('sms-b2');
  await run('start-attempt', 'sms-b3');
  expect(log).toEqual(['sms-b1', 'sms-b2', 'sms-b3']);
  expect(heldUp()).toEqual(['a']);
  unlock.open();
  await stuck;
  await run('start-attempt', 'sms-a1');
  expect(heldUp()).toEqual([]);
});

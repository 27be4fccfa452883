import { openSync, writeSync } from 'node:fs';
import { problemsOf, unfinishedIn } from '../../../src/application/billing/audit-ledger.ts';
import { serve } from '../../support/child-process.ts';
import { liveLoadSeed, whatsappLoadSeed } from '../../support/load-seed.ts';
import { startLoadService } from '../../support/load-service.ts';

/**
 * The service in a process that a crash test may kill. `CRASH_CREDIT_IQD` is the credit of its project,
 * `CRASH_LIVE_ATTEMPT_SECONDS` makes that a live project with attempts of so many seconds, `CRASH_CLOCK_AHEAD_MS` is how far its
 * clock is ahead, and every submission to a channel is written as a line to `CRASH_SUBMISSIONS_FILE`, which outlives the process.
 */
const {
  CRASH_CREDIT_IQD,
  CRASH_LIVE_ATTEMPT_SECONDS,
  CRASH_CLOCK_AHEAD_MS = '0',
  CRASH_SUBMISSIONS_FILE,
} = process.env;

const submissions = CRASH_SUBMISSIONS_FILE === undefined ? null : openSync(CRASH_SUBMISSIONS_FILE, 'a');
const { service, port, putClockAhead } = await startLoadService({
  seed:
    CRASH_LIVE_ATTEMPT_SECONDS === undefined
      ? whatsappLoadSeed(CRASH_CREDIT_IQD === undefined ? undefined : Number(CRASH_CREDIT_IQD))
      : liveLoadSeed(Number(CRASH_LIVE_ATTEMPT_SECONDS)),
  aheadMs: Number(CRASH_CLOCK_AHEAD_MS),
  onSubmission: ({ smsId, attemptNumber }) => {
    if (submissions !== null) writeSync(submissions, `${smsId} ${attemptNumber}\n`);
  },
});

const handlers = {
  /** What the service's own audit finds wrong, in sentences. */
  audit: async (quiet: boolean): Promise<readonly string[]> => {
    const audit = await service.roots.auditLedger.execute();
    const reasons = audit.deadLetterJobs.latest.map(({ id, reason }) => `job ${id}: ${reason}`);
    return [...problemsOf(audit), ...reasons, ...(quiet ? unfinishedIn(audit) : [])];
  },
  /** As `barid redrive` does; resolves with how many jobs are due again. */
  redrive: async (): Promise<number> => {
    const { jobs } = await service.roots.manageJobs.redrive('cli-database', { kind: null, ids: null });
    service.roots.wakeSignal.wake();
    return jobs;
  },
  putClockAhead,
};
export type CrashServiceHandlers = typeof handlers;

serve(port, handlers);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));

import { describeDifference, differencesOf, type LedgerDifference } from '../../domain/billing/ledger.ts';
import {
  type CampaignDifference,
  campaignDifferences,
  describeCampaignDifference,
} from '../../domain/campaigns/campaign-sums.ts';
import type { Job } from '../../domain/jobs/job.ts';
import { AWAITED_PRIORITIES } from '../../domain/jobs/job-priority.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import { type Money, toIqd, ZERO } from '../../domain/shared/money.ts';
import type { DeadLetter } from '../ports/stores/dead-letter-store.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** The accounts beside their ledger entries, and the work that is left to do. */
export interface LedgerAudit {
  readonly projects: number;
  /** Every column of an account that is not the sum of its entries. */
  readonly differences: readonly LedgerDifference[];
  /** Every sum of a campaign that its recipients do not confirm. */
  readonly campaignDifferences: readonly CampaignDifference[];
  /** What these jobs would have ended, such as a hold, stays open. */
  readonly deadLetterJobs: { readonly count: number; readonly latest: readonly DeadLetter[] };
  /** The accounts with money on hold. */
  readonly openHolds: readonly { readonly projectId: string; readonly held: Money }[];
  /** The job that is due next; null when none is left. */
  readonly nextJob: Pick<Job, 'id' | 'dueAt'> | null;
}

const LATEST_DEAD_LETTER_JOBS_MAX = 20;

/** Recomputes every account from its ledger entries, and reads the work that is left. Changes nothing. */
export class AuditLedger {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /**
   * Every account is read with its entries at one instant, and so is every campaign with its recipients. Nobody who writes waits
   * for it: that takes as long as the ledger is large.
   */
  async execute(): Promise<LedgerAudit> {
    return this.#ports.unitOfWork.read(async ({ ledger, campaigns, jobs, deadLetters }) => {
      const rows = await ledger.audit();
      const sums = await campaigns.audit();
      return {
        projects: rows.length,
        differences: rows.flatMap(({ account, entries }) => differencesOf(account, entries)),
        campaignDifferences: sums.flatMap(({ id, campaign, recipients }) =>
          campaignDifferences(id, campaign, recipients),
        ),
        deadLetterJobs: {
          count: await deadLetters.count(Number.MAX_SAFE_INTEGER),
          latest: await deadLetters.list({
            kind: null,
            reason: null,
            after: null,
            limit: LATEST_DEAD_LETTER_JOBS_MAX,
          }),
        },
        openHolds: rows
          .filter(({ account }) => account.held !== ZERO)
          .map(({ account: { projectId, held } }) => ({ projectId, held })),
        nextJob: await jobs.nextDue(AWAITED_PRIORITIES),
      };
    });
  }
}

/** Every difference, one sentence each. */
export function differencesIn({
  differences,
  campaignDifferences: ofCampaigns,
}: LedgerAudit): readonly string[] {
  return [...differences.map(describeDifference), ...ofCampaigns.map(describeCampaignDifference)];
}

/** What is wrong at any time, one sentence each; empty when all is well. */
export function problemsOf(audit: LedgerAudit): readonly string[] {
  const sentences = differencesIn(audit);
  const { count } = audit.deadLetterJobs;
  return count === 0
    ? sentences
    : [...sentences, `${count} ${count === 1 ? 'job is' : 'jobs are'} dead-lettered`];
}

/** What is not over yet, one sentence each: open holds and waiting jobs. Normal while messages are on their way. */
export function unfinishedIn({ openHolds, nextJob }: LedgerAudit): readonly string[] {
  const holds = openHolds.map(
    ({ projectId, held }) => `project ${projectId}: ${toIqd(held)} IQD are still held`,
  );
  if (nextJob === null) return holds;
  return [...holds, `a job is due at ${isoOf(nextJob.dueAt)}: ${nextJob.id}`];
}

import { differencesOf, type LedgerDifference } from '../../domain/billing/ledger.ts';
import type { DeadLetterJob } from '../ports/job-store.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

export interface LedgerAudit {
  readonly projects: number;
  readonly differences: readonly LedgerDifference[];
  /** How many dead-letter jobs there are: a hold that such a job would have resolved is still open. */
  readonly deadJobs: number;
  /** The latest of them. */
  readonly latestDead: readonly DeadLetterJob[];
}

const LATEST_DEAD_MAX = 20;

/** Recomputes every account from its ledger entries, and looks for work that nobody does any more. */
export class VerifyLedger {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /** Resolves with every column that disagrees and the dead-letter jobs; none of either means all is well. */
  async execute(): Promise<LedgerAudit> {
    return this.#ports.unitOfWork.run(async ({ ledger, jobs }) => {
      const audit = await ledger.audit();
      return {
        projects: audit.length,
        differences: audit.flatMap(({ account, entries }) => differencesOf(account, entries)),
        deadJobs: await jobs.countDeadLettered(),
        latestDead: await jobs.deadLettered(LATEST_DEAD_MAX),
      };
    });
  }
}

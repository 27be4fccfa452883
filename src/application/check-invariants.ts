import { describeDifference, differencesOf } from '../domain/billing/ledger.ts';
import { toIqd, ZERO } from '../domain/shared/money.ts';
import type { UnitOfWork } from './ports/unit-of-work.ts';

/** What must hold of the books and the work at rest, told in sentences. */
export class CheckInvariants {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /** Resolves with what is wrong. `quiet` also asks that nothing waits and that every hold is resolved. */
  async execute({ quiet }: { readonly quiet: boolean }): Promise<readonly string[]> {
    return this.#ports.unitOfWork.run(async (stores) => {
      const audit = await stores.ledger.audit();
      const problems = audit
        .flatMap(({ account, entries }) => differencesOf(account, entries))
        .map(describeDifference);
      const dead = await stores.jobs.countDeadLettered();
      if (dead > 0) problems.push(`${dead} jobs are dead-lettered`);
      if (!quiet) return problems;
      for (const { account } of audit) {
        if (account.held !== ZERO)
          problems.push(`project ${account.projectId}: ${toIqd(account.held)} IQD are still held`);
      }
      const next = await stores.jobs.nextDue();
      if (next !== null) {
        problems.push(`a job is due at ${new Date(next.dueAt).toISOString()}: ${next.id}`);
      }
      return problems;
    });
  }
}

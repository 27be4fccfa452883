import { differencesOf, type LedgerDifference } from '../../domain/billing/ledger.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

export interface LedgerAudit {
  readonly projects: number;
  readonly differences: readonly LedgerDifference[];
}

/** Recomputes every account from its ledger entries. */
export class VerifyLedger {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /** Resolves with every column that disagrees; none means the books are right. */
  async execute(): Promise<LedgerAudit> {
    const audit = await this.#ports.unitOfWork.run((stores) => stores.ledger.audit());
    return {
      projects: audit.length,
      differences: audit.flatMap(({ account, entries }) => differencesOf(account, entries)),
    };
  }
}

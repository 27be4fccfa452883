import type { LedgerEntry } from '../../domain/billing/ledger.ts';
import { type Money, subtract } from '../../domain/shared/money.ts';
import type { Clock } from '../ports/clock.ts';
import type { StatementPlace } from '../ports/stores/billing-stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { projectNamed } from './named-project.ts';
import { cutPage, type ListPage } from './walk-page.ts';

/** A ledger entry, and the balance after it. */
export interface StatementLine {
  readonly entry: LedgerEntry;
  readonly balance: Money;
}

export interface StatementPage extends ListPage<StatementLine, StatementPlace> {
  readonly projectId: string;
}

/** An entry may be committed so long after the instant it carries: transactions wait for locks. */
export const LATE_ENTRY_MS = 60_000;

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/**
 * The ledger entries of a project with the running balance, the newest first. Holds are left out: they change no balance. A page
 * takes no lock, and agrees with the balance of one instant. Its place has no balance while a late entry may still come before
 * it.
 */
export class ReadStatement {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Takes an id or a slug, and rejects as `project-not-found`. */
  page(project: string, before: StatementPlace | null, limit: number): Promise<StatementPage> {
    const { unitOfWork, clock } = this.#ports;
    const now = clock.now();
    return unitOfWork.read(async (stores) => {
      const { id: projectId } = await projectNamed(stores, project);
      const part = await stores.ledger.statement(projectId, before, limit + 1);
      let { balance } = part;
      const lines: StatementLine[] = [];
      for (const entry of part.entries) {
        lines.push({ entry, balance });
        balance = subtract(balance, entry.balanceDelta);
      }
      const placeOf = ({ entry: { createdAt, id, balanceDelta }, balance: after }: StatementLine) => {
        const isSettled = createdAt <= now - LATE_ENTRY_MS;
        return { createdAt, id, balance: isSettled ? subtract(after, balanceDelta) : null };
      };
      return { projectId, ...cutPage(lines, limit, placeOf) };
    });
  }
}

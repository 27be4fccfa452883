import type { LedgerEntry } from '../../domain/billing/ledger.ts';
import { type Money, subtract } from '../../domain/shared/money.ts';
import { lockedAccount } from '../billing/account-of.ts';
import type { EntryPlace } from '../ports/billing-stores.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { projectNamed } from './operator-change.ts';
import { cutPage, type ListPage } from './walk-page.ts';

/** A ledger entry, and the balance after it. */
export interface StatementLine {
  readonly entry: LedgerEntry;
  readonly balance: Money;
}

/** Where a statement goes on. */
export interface StatementPlace extends EntryPlace {
  /** The balance before the entry of the cursor; null when the entry was too young to be sure of it. */
  readonly balance: Money | null;
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
 * The ledger entries of a project with the running balance, the newest first. Holds are left out: they change no balance. Pages
 * are read behind the lock of the account, so each agrees with its balance.
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
    return unitOfWork.run(async (stores) => {
      const { id: projectId } = await projectNamed(stores, project);
      const account = await lockedAccount(stores, projectId);
      const entries = await stores.ledger.statement(projectId, before, limit + 1);
      let balance = account.balance;
      if (before !== null) {
        balance = before.balance ?? subtract(balance, await stores.ledger.balanceSince(projectId, before));
      }
      const lines: StatementLine[] = [];
      for (const entry of entries) {
        lines.push({ entry, balance });
        balance = subtract(balance, entry.balanceDelta);
      }
      const placeOf = ({ entry: { createdAt, id, balanceDelta }, balance: after }: StatementLine) => {
        const isSettled = createdAt <= now - LATE_ENTRY_MS;
        return { createdAt, id, balance: isSettled ? subtract(after, balanceDelta) : null };
      };
      return { projectId, ...cutPage(lines, limit, placeOf) };
    }, 'eventual');
  }
}

import type { Account, PaymentType } from '../../../domain/billing/account.ts';
import type { AccountDelta, LedgerEntry } from '../../../domain/billing/ledger.ts';
import type { Money } from '../../../domain/shared/money.ts';
import type { PhoneNumber } from '../../../domain/shared/phone-number.ts';

export interface NewAccount {
  readonly projectId: string;
  readonly paymentType: PaymentType;
  readonly spendingThreshold: Money | null;
  readonly trialPhoneNumber: PhoneNumber | null;
}

export interface AccountStore {
  /** Opens accounts with every amount zero; only ledger entries change the amounts. */
  insert(accounts: readonly NewAccount[]): Promise<void>;
  /** The accounts of the projects, in the order of project ids, locked until the transaction ends. */
  lock(projectIds: readonly string[]): Promise<readonly Account[]>;
  /** The accounts of the projects, in the order of project ids, without a lock. */
  byProjectIds(projectIds: readonly string[]): Promise<readonly Account[]>;
  /** Sets the spending threshold of the project; null takes it away. */
  setSpendingThreshold(projectId: string, threshold: Money | null): Promise<void>;
  /** Notes when the projects were told of low credit, in milliseconds since 1970; null arms the notice again. */
  setLowCreditNoticedAt(projectIds: readonly string[], at: number | null): Promise<void>;
  /** Ends the trial of the projects. */
  endTrial(projectIds: readonly string[]): Promise<void>;
}

/** Where a statement goes on: behind an entry. */
export interface StatementPlace {
  readonly createdAt: number;
  readonly id: string;
  /** The balance before the entry; null when it is to be summed. */
  readonly balance: Money | null;
}

/** A part of a statement. */
export interface StatementPart {
  /** The newest first. */
  readonly entries: readonly LedgerEntry[];
  /** After the first of them; zero when there are none. */
  readonly balance: Money;
}

export interface LedgerStore {
  /**
   * Writes the entries and adds their sums to the accounts, in the order of project ids. Fails the unit when an entry
   * of the same id exists: no entry is posted twice.
   */
  post(entries: readonly LedgerEntry[]): Promise<void>;
  /**
   * Up to `limit` entries of the project, the newest first, those before `before` when it is given; and the balance, as it was
   * at the same instant. Holds are left out: they change no balance.
   */
  statement(projectId: string, before: StatementPlace | null, limit: number): Promise<StatementPart>;
  /** The entries that exist, in the order of their ids. */
  byIds(ids: readonly string[]): Promise<readonly LedgerEntry[]>;
  /** For every project, the amounts of its account and the sums of its ledger entries. */
  audit(): Promise<readonly { readonly account: AccountDelta; readonly entries: AccountDelta }[]>;
}

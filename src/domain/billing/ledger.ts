import { invariant } from '../shared/invariant.ts';
import { type Money, money, negate, subtract, toIqd, ZERO } from '../shared/money.ts';

/** What the balance or the threshold of an account changes by. */
export const STATEMENT_KINDS = ['deposit', 'correction', 'settlement', 'threshold-reset'] as const;

/**
 * One immutable row of the ledger. Its `id` is made from its cause, so that nothing is posted twice. The account changes
 * by its three deltas.
 */
export interface LedgerEntry {
  readonly id: string;
  readonly projectId: string;
  readonly kind: (typeof STATEMENT_KINDS)[number] | 'hold';
  readonly reference: string;
  readonly balanceDelta: Money;
  readonly heldDelta: Money;
  readonly spentDelta: Money;
  readonly createdAt: number;
}

/** The change of an account when entries are posted. */
export interface AccountDelta {
  readonly projectId: string;
  readonly balance: Money;
  readonly held: Money;
  readonly spent: Money;
}

interface Occurrence {
  readonly projectId: string;
  readonly reference: string;
  readonly at: number;
}

/** The id of an entry. The reference of a message is its smsId. */
export function ledgerEntryId(reference: string, kind: LedgerEntry['kind']): string {
  return `${reference}/${kind}`;
}

/** Credit added to a project. */
export function depositEntry(occurrence: Occurrence, amount: Money): LedgerEntry {
  return entry('deposit', occurrence, amount, ZERO, ZERO);
}

/** An operator corrects the balance; the amount may be below zero. */
export function correctionEntry(occurrence: Occurrence, amount: Money): LedgerEntry {
  return entry('correction', occurrence, amount, ZERO, ZERO);
}

/** The hold of a message that was accepted. */
export function holdEntry(occurrence: Occurrence, amount: Money): LedgerEntry {
  return entry('hold', occurrence, ZERO, amount, ZERO);
}

/** The one end of a hold: `captured` of it is spent, the rest is released. */
export function settlementEntry(occurrence: Occurrence, held: Money, captured: Money): LedgerEntry {
  invariant(captured >= 0 && captured <= held, 'a settlement captures at most what was held');
  return entry('settlement', occurrence, negate(captured), negate(held), captured);
}

/** An operator sets the count against the spending threshold to zero. */
export function thresholdResetEntry(occurrence: Occurrence, spent: Money): LedgerEntry {
  return entry('threshold-reset', occurrence, ZERO, ZERO, negate(spent));
}

/** The sum of the entries, one delta per project, in the order of project ids. */
export function deltasOf(entries: readonly LedgerEntry[]): readonly AccountDelta[] {
  const sums = new Map<string, { projectId: string; balance: number; held: number; spent: number }>();
  for (const { projectId, balanceDelta, heldDelta, spentDelta } of entries) {
    let sum = sums.get(projectId);
    if (sum === undefined) {
      sum = { projectId, balance: 0, held: 0, spent: 0 };
      sums.set(projectId, sum);
    }
    sum.balance += balanceDelta;
    sum.held += heldDelta;
    sum.spent += spentDelta;
  }
  return [...sums.values()]
    .sort((a, b) => (a.projectId < b.projectId ? -1 : 1))
    .map(({ projectId, balance, held, spent }) => ({
      projectId,
      balance: money(balance),
      held: money(held),
      spent: money(spent),
    }));
}

/** A column of an account that is not the sum of its entries. */
export interface LedgerDifference {
  readonly projectId: string;
  readonly column: 'balance' | 'held' | 'spent';
  readonly account: Money;
  readonly entries: Money;
}

/** Every column in which an account disagrees with the sum of its entries. */
export function differencesOf(account: AccountDelta, entries: AccountDelta): readonly LedgerDifference[] {
  return (['balance', 'held', 'spent'] as const)
    .filter((column) => subtract(account[column], entries[column]) !== 0)
    .map((column) => ({
      projectId: account.projectId,
      column,
      account: account[column],
      entries: entries[column],
    }));
}

/** The difference in a sentence for an operator, the amounts in IQD. */
export function describeDifference({ projectId, column, account, entries }: LedgerDifference): string {
  return `project ${projectId}: ${column} is ${toIqd(account)} IQD, its entries say ${toIqd(entries)} IQD`;
}

function entry(
  kind: LedgerEntry['kind'],
  { projectId, reference, at }: Occurrence,
  balanceDelta: Money,
  heldDelta: Money,
  spentDelta: Money,
): LedgerEntry {
  return {
    id: ledgerEntryId(reference, kind),
    projectId,
    kind,
    reference,
    balanceDelta,
    heldDelta,
    spentDelta,
    createdAt: at,
  };
}

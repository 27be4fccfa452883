import type { Knex } from 'knex';
import type {
  LedgerStore,
  StatementPart,
  StatementPlace,
} from '../../../application/ports/stores/billing-stores.ts';
import { type AccountDelta, deltasOf, type LedgerEntry } from '../../../domain/billing/ledger.ts';
import { money } from '../../../domain/shared/money.ts';
import { columnNames, type Insert, type Row, type RowOf, type Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'ledger_entries',
  columns: {
    id: 'text',
    project_id: 'text',
    kind: 'text',
    reference: 'text',
    balance_delta: 'bigint',
    held_delta: 'bigint',
    spent_delta: 'bigint',
    created_at: 'bigint',
  },
  orderBy: 'id',
} as const satisfies Insert<string>;

const ADD = {
  table: 'accounts',
  key: { project_id: 'text' },
  columns: { balance: 'bigint', held: 'bigint', spent: 'bigint' },
  mode: 'add',
} as const satisfies Update<string, string>;

const BY_IDS = `SELECT ${columnNames(INSERT.columns)} FROM ledger_entries WHERE id = ANY(?) ORDER BY id`;

/** The index of statements is for this condition only. */
const WITHOUT_HOLDS = "kind <> 'hold'";

const BALANCE = '(SELECT balance FROM accounts WHERE project_id = ?)';

/** Without what the entries from a place on changed. */
const BALANCE_BEFORE = `CAST(${BALANCE} - (
  SELECT COALESCE(SUM(balance_delta), 0) FROM ledger_entries
  WHERE project_id = ? AND ${WITHOUT_HOLDS} AND (created_at, id) >= (?, ?)
) AS bigint)`;

const AUDIT = `
  SELECT accounts.project_id, accounts.balance, accounts.held, accounts.spent,
    COALESCE(sums.balance, 0) AS entries_balance,
    COALESCE(sums.held, 0) AS entries_held,
    COALESCE(sums.spent, 0) AS entries_spent
  FROM accounts
  LEFT JOIN (
    SELECT project_id,
      CAST(SUM(balance_delta) AS bigint) AS balance,
      CAST(SUM(held_delta) AS bigint) AS held,
      CAST(SUM(spent_delta) AS bigint) AS spent
    FROM ledger_entries GROUP BY project_id
  ) AS sums ON sums.project_id = accounts.project_id
  ORDER BY accounts.project_id`;

export class SqlLedgerStore implements LedgerStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async post(entries: readonly LedgerEntry[]): Promise<void> {
    await Promise.all([
      this.#session.insert(INSERT, entries.map(toRow)),
      this.#session.update(
        ADD,
        deltasOf(entries).map(({ projectId, balance, held, spent }) => ({
          project_id: projectId,
          balance,
          held,
          spent,
        })),
      ),
    ]);
  }

  /** One statement: a database shows it the account and the entries of one instant, without a lock. */
  async statement(projectId: string, before: StatementPlace | null, limit: number): Promise<StatementPart> {
    const rows = await this.#session.select((knex) =>
      knex('ledger_entries')
        .where({ project_id: projectId })
        .whereRaw(WITHOUT_HOLDS)
        .modify((query) => {
          if (before !== null) query.whereRaw('(created_at, id) < (?, ?)', [before.createdAt, before.id]);
        })
        .select(Object.keys(INSERT.columns))
        .select({ balance: balanceBehind(knex, projectId, before) })
        .orderBy([
          { column: 'created_at', order: 'desc' },
          { column: 'id', order: 'desc' },
        ])
        .limit(limit),
    );
    const [first] = rows;
    return { entries: rows.map(fromRow), balance: money((first?.balance ?? 0) as number) };
  }

  async byIds(ids: readonly string[]): Promise<readonly LedgerEntry[]> {
    const rows = await this.#session.query(BY_IDS, [ids]);
    return rows.map(fromRow);
  }

  async audit(): Promise<readonly { readonly account: AccountDelta; readonly entries: AccountDelta }[]> {
    const rows = await this.#session.query(AUDIT);
    return rows.map((row) => ({ account: delta(row, ''), entries: delta(row, 'entries_') }));
  }
}

function balanceBehind(knex: Knex, projectId: string, before: StatementPlace | null): Knex.Raw {
  if (before === null) return knex.raw(BALANCE, [projectId]);
  const { balance, createdAt, id } = before;
  if (balance !== null) return knex.raw('CAST(? AS bigint)', [balance]);
  return knex.raw(BALANCE_BEFORE, [projectId, projectId, createdAt, id]);
}

function fromRow(row: Row): LedgerEntry {
  return {
    id: row.id as string,
    projectId: row.project_id as string,
    kind: row.kind as LedgerEntry['kind'],
    reference: row.reference as string,
    balanceDelta: money(row.balance_delta as number),
    heldDelta: money(row.held_delta as number),
    spentDelta: money(row.spent_delta as number),
    createdAt: row.created_at as number,
  };
}

function toRow(entry: LedgerEntry): RowOf<keyof typeof INSERT.columns> {
  return {
    id: entry.id,
    project_id: entry.projectId,
    kind: entry.kind,
    reference: entry.reference,
    balance_delta: entry.balanceDelta,
    held_delta: entry.heldDelta,
    spent_delta: entry.spentDelta,
    created_at: entry.createdAt,
  };
}

function delta(row: Row, prefix: string): AccountDelta {
  return {
    projectId: row.project_id as string,
    balance: money(row[`${prefix}balance`] as number),
    held: money(row[`${prefix}held`] as number),
    spent: money(row[`${prefix}spent`] as number),
  };
}

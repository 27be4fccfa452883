import type { AccountStore, NewAccount } from '../../../application/ports/stores/billing-stores.ts';
import type { Account, PaymentType } from '../../../domain/billing/account.ts';
import { type Money, money, ZERO } from '../../../domain/shared/money.ts';
import type { PhoneNumber } from '../../../domain/shared/phone-number.ts';
import type { Insert, Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'accounts',
  columns: {
    project_id: 'text',
    payment_type: 'text',
    balance: 'bigint',
    held: 'bigint',
    spent: 'bigint',
    spending_threshold: 'bigint',
    trial_phone_number: 'text',
  },
  orderBy: 'project_id',
} as const satisfies Insert<string>;

const LOCK = 'SELECT project_id FROM accounts WHERE project_id = ANY(?) ORDER BY project_id FOR UPDATE';

const BY_PROJECT_IDS = `
  SELECT accounts.project_id, payment_type, balance, held, spent, spending_threshold, trial_phone_number, noticed_at
  FROM accounts LEFT JOIN low_credit_notices ON low_credit_notices.project_id = accounts.project_id
  WHERE accounts.project_id = ANY(?) ORDER BY accounts.project_id`;

const NOTE_NOTICES = {
  table: 'low_credit_notices',
  columns: { project_id: 'text', noticed_at: 'bigint' },
  orderBy: 'project_id',
  onConflict: 'ON CONFLICT (project_id) DO UPDATE SET noticed_at = excluded.noticed_at',
} as const satisfies Insert<string>;

export class SqlAccountStore implements AccountStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(accounts: readonly NewAccount[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      accounts.map((account) => ({
        project_id: account.projectId,
        payment_type: account.paymentType,
        balance: ZERO,
        held: ZERO,
        spent: ZERO,
        spending_threshold: account.spendingThreshold,
        trial_phone_number: account.trialPhoneNumber,
      })),
    );
  }

  async lock(projectIds: readonly string[]): Promise<readonly Account[]> {
    const [, rows] = await Promise.all([
      this.#session.query(LOCK, [projectIds]),
      // The rows as they are under the lock, with the notices.
      this.#session.query(BY_PROJECT_IDS, [projectIds]),
    ]);
    return rows.map(fromRow);
  }

  async byProjectIds(projectIds: readonly string[]): Promise<readonly Account[]> {
    return (await this.#session.query(BY_PROJECT_IDS, [projectIds])).map(fromRow);
  }

  async setSpendingThreshold(projectId: string, threshold: Money | null): Promise<void> {
    await this.#session.execute('UPDATE accounts SET spending_threshold = ? WHERE project_id = ?', [
      threshold,
      projectId,
    ]);
  }

  async setLowCreditNoticedAt(projectIds: readonly string[], at: number | null): Promise<void> {
    if (at === null) {
      await this.#session.execute('DELETE FROM low_credit_notices WHERE project_id = ANY(?)', [projectIds]);
    } else {
      await this.#session.insert(
        NOTE_NOTICES,
        projectIds.map((projectId) => ({ project_id: projectId, noticed_at: at })),
      );
    }
  }

  async endTrial(projectIds: readonly string[]): Promise<void> {
    await this.#session.query(LOCK, [projectIds]);
    await this.#session.execute('UPDATE accounts SET trial_phone_number = NULL WHERE project_id = ANY(?)', [
      projectIds,
    ]);
  }
}

function fromRow(row: Row): Account {
  const threshold = row.spending_threshold as number | null;
  return {
    projectId: row.project_id as string,
    paymentType: row.payment_type as PaymentType,
    balance: amount(row, 'balance'),
    held: amount(row, 'held'),
    spent: amount(row, 'spent'),
    spendingThreshold: threshold === null ? null : money(threshold),
    trialPhoneNumber: row.trial_phone_number as PhoneNumber | null,
    lowCreditNoticedAt: row.noticed_at as number | null,
  };
}

function amount(row: Row, column: string): Money {
  return money(row[column] as number);
}

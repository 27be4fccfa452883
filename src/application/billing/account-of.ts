import type { Account } from '../../domain/billing/account.ts';
import type { Stores } from '../ports/stores.ts';

/** The account of a project, locked until the transaction ends: it has the amounts that its ledger entries say. */
export async function lockedAccount(
  { accounts }: Pick<Stores, 'accounts'>,
  projectId: string,
): Promise<Account> {
  const [account] = await accounts.lock([projectId]);
  return accountOf(projectId, account);
}

/** The account of a project, without a lock. */
export async function readAccount(
  { accounts }: Pick<Stores, 'accounts'>,
  projectId: string,
): Promise<Account> {
  const [account] = await accounts.byProjectIds([projectId]);
  return accountOf(projectId, account);
}

/** The account that was read for a project. Each project has one, from the transaction on that adds the project. */
export function accountOf(projectId: string, account: Account | undefined): Account {
  if (account === undefined) throw new Error(`Project ${projectId} has no account`);
  return account;
}

import { Findings } from './findings.ts';

/** Runs a query on a connection of the test's own and resolves with the rows. */
export type Query = (
  sql: string,
  values?: readonly unknown[],
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

export interface LedgerCheck {
  /** Ids of the messages that a client was told are accepted. */
  readonly acknowledged: ReadonlySet<string>;
  /** Whether every message has to be final. */
  readonly quiet: boolean;
}

export interface LedgerReport {
  readonly stored: number;
  readonly final: number;
  readonly failed: number;
  /** Messages that were acknowledged and are not stored. */
  readonly lost: number;
  /** Messages with more than one hold or more than one settlement. */
  readonly double: number;
  /** What is wrong, in sentences. */
  readonly problems: string[];
}

interface Entries {
  readonly count: number;
  readonly balance: number;
  readonly held: number;
  readonly spent: number;
}

const LOST = 'acknowledged, not stored';
const HELD_TWICE = 'more than one hold';
const SETTLED_TWICE = 'more than one settlement';

/**
 * Compares the stored messages with their ledger entries and with what clients were told: every acknowledged
 * message is stored, held once at its cost, and settled exactly once when it is final, otherwise not at all.
 *
 * The service's own audit covers accounts, dead-letter jobs and work left over. These rules are checked in SQL, on a
 * connection of the test's own: only the client knows what was acknowledged, and a service that was just killed must
 * not vouch for its own rows.
 */
export async function checkLedger(query: Query, { acknowledged, quiet }: LedgerCheck): Promise<LedgerReport> {
  const messages = (await query('SELECT sms_id, campaign_id, cost, status, is_final FROM messages')).map(
    (row) => ({
      id: String(row.sms_id),
      cost: Number(row.cost),
      status: String(row.status),
      isFinal: Number(row.is_final) === 1,
      isOfCampaign: row.campaign_id !== null,
    }),
  );
  const entries = await query(
    `SELECT reference, kind, COUNT(*) AS entries, SUM(balance_delta) AS balance, SUM(held_delta) AS held,
       SUM(spent_delta) AS spent
     FROM ledger_entries GROUP BY reference, kind`,
  );
  const holds = entriesOf(entries, 'hold');
  const settlements = entriesOf(entries, 'settlement');
  const found = new Findings();
  const stored = new Set(messages.map(({ id }) => id));
  for (const { id, cost, status, isFinal, isOfCampaign } of messages) {
    // A campaign pays for nothing that was never reported as delivered.
    const isFree = status === 'failed' || (isOfCampaign && status === 'sent');
    checkHold(id, cost, holds.get(id), found);
    checkSettlement(id, isFree ? 0 : cost, { cost, isFinal }, settlements.get(id), found);
    if (quiet && !isFinal) found.add('not final', `${id} (${status})`);
  }
  for (const id of acknowledged) if (!stored.has(id)) found.add(LOST, id);
  for (const id of [...holds.keys(), ...settlements.keys()]) {
    if (!stored.has(id)) found.add('ledger entry without a message', id);
  }
  for (const { project_id: id } of await query('SELECT project_id FROM accounts WHERE balance < held')) {
    found.add('credit below zero', String(id));
  }
  return {
    stored: messages.length,
    final: messages.filter(({ isFinal }) => isFinal).length,
    failed: messages.filter(({ status }) => status === 'failed').length,
    lost: found.count(LOST),
    double: found.count(HELD_TWICE) + found.count(SETTLED_TWICE),
    problems: found.sentences(),
  };
}

/** Lines that occur more than once: each names a submission of one message over one channel. */
export function repeatedSubmissions(lines: readonly string[]): readonly string[] {
  const times = new Map<string, number>();
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1);
  return [...times].filter(([, count]) => count > 1).map(([line]) => line);
}

function checkHold(id: string, cost: number, hold: Entries | undefined, found: Findings): void {
  if (hold === undefined) found.add('no hold', id);
  else if (hold.count !== 1) found.add(HELD_TWICE, id);
  else if (hold.held !== cost) found.add('held at another amount than the cost', id);
}

/** A settlement releases the whole hold and captures what the message is charged. */
function checkSettlement(
  id: string,
  charge: number,
  { cost, isFinal }: { readonly cost: number; readonly isFinal: boolean },
  settlement: Entries | undefined,
  found: Findings,
): void {
  if (settlement === undefined) {
    if (isFinal) found.add('final and not settled', id);
    return;
  }
  const { count, held, spent, balance } = settlement;
  if (count !== 1) found.add(SETTLED_TWICE, id);
  else if (held + cost !== 0 || spent !== charge || balance + charge !== 0)
    found.add('settled at another amount', id);
  if (!isFinal) found.add('settled and not final', id);
}

function entriesOf(rows: Awaited<ReturnType<Query>>, kind: string): ReadonlyMap<string, Entries> {
  return new Map(
    rows
      .filter((row) => row.kind === kind)
      .map((row) => [
        String(row.reference),
        {
          count: Number(row.entries),
          balance: Number(row.balance),
          held: Number(row.held),
          spent: Number(row.spent),
        },
      ]),
  );
}

/** Smallest job of work left over that is not just a carrier's report window (24 hours and more away). */
export const SOON_MS = 3_600_000;

/**
 * What the stored rows say, in sentences: every acknowledged message is there, is held once at its cost and
 * settled at most once, exactly once when it is final; accounts are the sums of their entries. `quiet` also asks
 * that everything is final and nothing is held or left to do. `query(sql)` resolves with rows.
 */
export async function checkBooks(query, { acknowledged, quiet }) {
  const messages = await query('SELECT sms_id, cost, status, is_final FROM messages');
  const booked = await query(
    `SELECT reference, kind, COUNT(*) AS entries, SUM(held_delta) AS held, SUM(balance_delta) AS balance,
       SUM(spent_delta) AS spent
     FROM ledger_entries GROUP BY reference, kind`,
  );
  const holds = byReference(booked, 'hold');
  const settlements = byReference(booked, 'settlement');
  const found = new Findings();
  const known = new Set();
  for (const message of messages) {
    known.add(message.sms_id);
    checkMessage(message, holds.get(message.sms_id), settlements.get(message.sms_id), { quiet, found });
  }
  for (const id of acknowledged) if (!known.has(id)) found.add('acknowledged, not stored', id);
  for (const id of [...holds.keys(), ...settlements.keys()]) {
    if (!known.has(id)) found.add('booked without a message', id);
  }
  await checkAccounts(query, { quiet, found });
  for (const { id, reason } of await query('SELECT id, reason FROM dead_jobs')) {
    found.add('dead job', `${id} (${reason})`);
  }
  if (quiet) for (const { id } of await query('SELECT id FROM jobs')) found.add('job left over', id);
  return {
    stored: messages.length,
    final: messages.filter(({ is_final }) => Number(is_final) === 1).length,
    failed: messages.filter(({ status }) => status === 'failed').length,
    lost: found.count('acknowledged, not stored'),
    double: found.count('more than one hold') + found.count('more than one settlement'),
    problems: found.sentences(),
  };
}

/** Messages submitted more than once over the same channel, from the lines the servers wrote before each. */
export function repeatedSubmissions(lines) {
  const times = new Map();
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1);
  return [...times].filter(([, count]) => count > 1).map(([line]) => line);
}

function checkMessage(message, hold, settlement, { quiet, found }) {
  const { sms_id: id, status } = message;
  const cost = Number(message.cost);
  const isFinal = Number(message.is_final) === 1;
  if (hold === undefined) found.add('no hold', id);
  else if (hold.entries !== 1) found.add('more than one hold', id);
  else if (hold.held !== cost) found.add('held something else than the cost', id);
  if (settlement !== undefined) {
    const taken = status === 'failed' ? 0 : cost;
    if (settlement.entries !== 1) found.add('more than one settlement', id);
    else if (settlement.held !== -cost || settlement.spent !== taken || settlement.balance !== 0 - taken)
      found.add('settled at another amount', id);
    if (!isFinal) found.add('settled and not final', id);
  } else if (isFinal) found.add('final and not settled', id);
  if (quiet && !isFinal) found.add('not final', `${id} (${status})`);
}

async function checkAccounts(query, { quiet, found }) {
  const accounts = await query(
    `SELECT accounts.project_id, accounts.balance, accounts.held, accounts.spent,
       SUM(balance_delta) AS sum_balance, SUM(held_delta) AS sum_held, SUM(spent_delta) AS sum_spent
     FROM accounts LEFT JOIN ledger_entries ON ledger_entries.project_id = accounts.project_id
     GROUP BY accounts.project_id, accounts.balance, accounts.held, accounts.spent`,
  );
  for (const account of accounts) {
    for (const column of ['balance', 'held', 'spent']) {
      const [is, sum] = [Number(account[column]), Number(account[`sum_${column}`])];
      if (is !== sum) found.add('account differs from its entries', `${column} is ${is}, not ${sum}`);
    }
    if (Number(account.balance) - Number(account.held) < 0)
      found.add('credit below zero', account.project_id);
    if (quiet && Number(account.held) !== 0) found.add('still held', String(account.held));
  }
}

function byReference(booked, kind) {
  return new Map(
    booked
      .filter((row) => row.kind === kind)
      .map(({ reference, entries, held, balance, spent }) => [
        reference,
        { entries: Number(entries), held: Number(held), balance: Number(balance), spent: Number(spent) },
      ]),
  );
}

/** Counts per kind of finding, with the first few named. */
class Findings {
  static #SHOWN = 3;
  #byKind = new Map();

  add(kind, detail) {
    const details = this.#byKind.get(kind) ?? [];
    details.push(detail);
    this.#byKind.set(kind, details);
  }

  count(kind) {
    return this.#byKind.get(kind)?.length ?? 0;
  }

  sentences() {
    return [...this.#byKind].map(
      ([kind, details]) => `${details.length} × ${kind}: ${details.slice(0, Findings.#SHOWN).join(', ')}`,
    );
  }
}

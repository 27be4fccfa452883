import { beforeEach, describe, expect, it, test } from 'vitest';
import { startService } from '../../support/running-service.ts';
import { verification } from '../../support/seeds.ts';
import { checkLedger, type LedgerReport, type Query, repeatedSubmissions } from './ledger-check.ts';

const A_MINUTE_MS = 60_000;
/** Falls back from whatsapp to sms and fails there, so that its hold is released. */
const FAILS = '9990000000006';

let query: Query;
let delivered: string;
let failed: string;

beforeEach(async () => {
  const harness = await startService();
  const send = async (phoneNumber: string, provider: string): Promise<string> => {
    const { body } = await harness.request('/sms', { body: verification(phoneNumber, { provider }) });
    return (body as { smsId: string }).smsId;
  };
  delivered = await send('9647701234567', 'sms');
  failed = await send(FAILS, 'whatsapp-sms');
  await harness.advance(A_MINUTE_MS);
  const { knex } = harness.service.roots.database;
  query = (sql) => knex.raw(sql);
});

function check(acknowledged: readonly string[] = [delivered, failed]): Promise<LedgerReport> {
  return checkLedger(query, { acknowledged: new Set(acknowledged), quiet: true });
}

describe('the ledger check', () => {
  it('the ledger check finds nothing wrong with a message that was delivered and one that failed', async () => {
    expect(await check()).toEqual({ stored: 2, final: 2, failed: 1, lost: 0, double: 0, problems: [] });
  });

  it('the ledger check finds an acknowledged message that is not stored', async () => {
    const { lost, problems } = await check([delivered, failed, 'sms-lost']);
    expect({ lost, problems }).toEqual({ lost: 1, problems: ['1 × acknowledged, not stored: sms-lost'] });
  });

  test.each<[string, sql: (id: string) => string, problem: (id: string) => string]>([
    [
      'a ledger entry without a message',
      () =>
        `UPDATE ledger_entries SET reference = 'sms-none' WHERE kind = 'hold' AND reference = '${failed}'`,
      () => '1 × ledger entry without a message: sms-none',
    ],
    [
      'a message without a hold',
      (id) => `DELETE FROM ledger_entries WHERE kind = 'hold' AND reference = '${id}'`,
      (id) => `1 × no hold: ${id}`,
    ],
    [
      'a hold at another amount',
      (id) =>
        `UPDATE ledger_entries SET held_delta = held_delta + 1 WHERE kind = 'hold' AND reference = '${id}'`,
      (id) => `1 × held at another amount than the cost: ${id}`,
    ],
    [
      'a settlement that captures another amount',
      (id) =>
        `UPDATE ledger_entries SET spent_delta = spent_delta + 1 WHERE kind = 'settlement' AND reference = '${id}'`,
      (id) => `1 × settled at another amount: ${id}`,
    ],
    [
      'a settlement that releases less than the hold',
      (id) =>
        `UPDATE ledger_entries SET held_delta = held_delta + 1 WHERE kind = 'settlement' AND reference = '${id}'`,
      (id) => `1 × settled at another amount: ${id}`,
    ],
    [
      'a failed message that is charged',
      () => `UPDATE messages SET status = 'failed' WHERE sms_id = '${delivered}'`,
      () => `1 × settled at another amount: ${delivered}`,
    ],
    [
      'a final message that is not settled',
      (id) => `DELETE FROM ledger_entries WHERE kind = 'settlement' AND reference = '${id}'`,
      (id) => `1 × final and not settled: ${id}`,
    ],
    [
      'an account that holds more than its balance',
      () => 'UPDATE accounts SET held = balance + 1',
      () => '1 × credit below zero: ',
    ],
  ])('the ledger check finds %s', async (_, sql, problem) => {
    await query(sql(delivered));
    const { problems } = await check();
    expect(problems).toContainEqual(expect.stringContaining(problem(delivered)));
  });

  it('the ledger check finds a message that is settled and not final', async () => {
    await query(`UPDATE messages SET is_final = 0 WHERE sms_id = '${delivered}'`);
    expect((await check()).problems).toEqual([
      `1 × settled and not final: ${delivered}`,
      `1 × not final: ${delivered} (delivered)`,
    ]);
  });

  test.each([
    ['hold', 'more than one hold'],
    ['settlement', 'more than one settlement'],
  ])('the ledger check finds a second %s of a message', async (kind, problem) => {
    await query(
      `INSERT INTO ledger_entries
         SELECT id || '-again', project_id, kind, reference, balance_delta, held_delta, spent_delta, created_at
         FROM ledger_entries WHERE kind = '${kind}' AND reference = '${delivered}'`,
    );
    const { double, problems } = await check();
    expect({ double, problems }).toEqual({ double: 1, problems: [`1 × ${problem}: ${delivered}`] });
  });
});

describe('repeatedSubmissions', () => {
  it('repeatedSubmissions names a submission that was written twice and none that was written once', () => {
    expect(repeatedSubmissions(['sms-1 0', 'sms-1 1', 'sms-2 0', 'sms-1 1'])).toEqual(['sms-1 1']);
  });
});

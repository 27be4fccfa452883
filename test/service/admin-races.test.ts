import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import type { Harness, HarnessReply } from '../../src/bootstrap/harness/harness.ts';
import { Service } from '../../src/bootstrap/service.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const ROUNDS = 300;
const CREDIT = 1_000;
const COST = 80;
const DAY_MS = 86_400_000;

interface AuditRecord {
  readonly id: string;
  readonly action: string;
  readonly before: { readonly balance: number };
  readonly after: { readonly balance: number; readonly amount?: number };
}

interface StatementLine {
  readonly kind: string;
  readonly reference: string;
  readonly amount: number;
  readonly balance: number;
}

const post = (service: Harness, path: string, body: unknown = {}): Promise<HarnessReply> =>
  service.request(`/admin/projects/demo/${path}`, { method: 'POST', apiKey: ADMIN_TOKEN, body });

/** Every entry of a list, page by page. */
async function all<Entry>(service: Harness, path: string, name: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await service.request(`/admin${path}?limit=100${cursor}`, { apiKey: ADMIN_TOKEN });
    const page = body as Record<string, unknown>;
    entries.push(...(page[name] as Entry[]));
    if (page.next === null) return entries;
    cursor = `&cursor=${page.next}`;
  }
}

describe('operators who change the money of a project at once, while it sends', () => {
  it('operators at once leave a ledger, a balance and an audit log that agree', {
    timeout: 120_000,
  }, async () => {
    const service = await startService({
      adminToken: ADMIN_TOKEN,
      seed: seedWith({ credit: CREDIT, rateLimit: null }),
    });
    const statuses: Record<string, number[]> = { topUps: [], corrections: [], resets: [], sends: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const body = verification(`96477${String(round).padStart(8, '0')}`, { provider: 'sms' });
      const [topUp, correction, reset, send] = await Promise.all([
        post(service, 'top-ups', { amount: 100 + round / 1_000 }),
        post(service, 'corrections', { amount: -(150 + (round % 7)), reason: `Round ${round}` }),
        post(service, 'threshold-resets'),
        service.request('/sms', { body }),
      ]);
      statuses.topUps?.push(topUp.status);
      statuses.corrections?.push(correction.status);
      statuses.resets?.push(reset.status);
      statuses.sends?.push(send.status);
      if (round % 20 === 0) await service.advance(1_000);
    }
    expect(new Set([...(statuses.topUps ?? []), ...(statuses.resets ?? [])])).toEqual(new Set([200]));
    // Some corrections meet too little that is not held, and some sends too little credit.
    expect(new Set(statuses.corrections)).toEqual(new Set([200, 409]));
    expect(new Set(statuses.sends)).toEqual(new Set([200, 400]));
    await service.advance(DAY_MS);
    await service.assertQuiet();

    const records = await all<AuditRecord>(service, '/audit', 'records');
    const lines = await all<StatementLine>(service, '/projects/demo/statement', 'lines');
    const done = statuses.corrections?.filter((status) => status === 200).length ?? 0;
    expect(records).toHaveLength(2 * ROUNDS + done);
    const changes = records.filter(({ action }) => action !== 'threshold-reset');
    const amounts = new Map(changes.map(({ id, after }) => [id, after.amount]));
    const entries = lines.filter(
      ({ kind, reference }) =>
        (kind === 'deposit' || kind === 'correction') && !reference.startsWith('seed/'),
    );
    expect(entries).toHaveLength(changes.length);
    for (const { reference, amount } of entries) expect(amounts.get(reference)).toBe(amount);
    for (const { before, after } of changes) {
      expect(after.balance - before.balance).toBeCloseTo(after.amount ?? Number.NaN, 6);
    }
    const sum = changes.reduce((total, { after }) => total + (after.amount ?? 0), 0);
    const sent = statuses.sends?.filter((status) => status === 200).length ?? 0;
    const balance = CREDIT + sum - sent * COST;
    expect(lines[0]?.balance).toBeCloseTo(balance, 6);
    const { body } = await service.request('/admin/projects/demo', { apiKey: ADMIN_TOKEN });
    expect(body).toMatchObject({ balance: lines[0]?.balance, held: 0 });
  });
});

describe('what operators leave behind', () => {
  const CODE = '7305914862';
  const TEXT = 'Your parcel waits at the blue door';
  const TRIAL_NUMBER = '9647709876543';

  it('no key, token, code, text or trial number is in the audit log, the log, or a reply that shows no new key', async () => {
    const logger = new RecordingLogger();
    const service = new Service({
      ...readConfig({ DATABASE_URL: 'sqlite::memory:', ADMIN_TOKEN }),
      secretKey: Buffer.alloc(32, 1),
      clock: { now: () => Date.parse('2030-01-01T00:00:00Z') },
      logger,
      watchesClock: false,
      seed: readSeed(seedWith({})),
    });
    await service.start();
    const port = await service.listen(0, '127.0.0.1');
    const replies: string[] = [];
    const ask = async (method: string, path: string, body?: unknown, key = ADMIN_TOKEN) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      replies.push(text);
      return text;
    };
    const trial = { ownPhoneNumber: TRIAL_NUMBER };
    await ask('POST', '/admin/projects', { name: 'T', slug: 't', environment: 'dev', trial });
    const { id, apiKey } = JSON.parse(await ask('POST', '/admin/projects/t/keys'));
    replies.pop();
    const rotated = JSON.parse(await ask('POST', `/admin/projects/t/keys/${id}/rotate`, {}));
    replies.pop();
    await ask('POST', '/admin/projects/t/top-ups', { amount: 1_000 });
    await ask('POST', '/sms', verification(TRIAL_NUMBER, { verificationCode: CODE }), apiKey);
    await ask('POST', '/sms', { phoneNumber: TRIAL_NUMBER, smsType: 'custom', customMessage: TEXT }, apiKey);
    await ask('POST', `/admin/projects/t/keys/${apiKey}/revoke`);
    await ask('POST', `/admin/projects/${apiKey}/keys`);
    await ask('POST', `/admin/projects/t/keys/${id}/revoke`);
    await ask('POST', '/admin/projects', { name: 7, slug: DEMO_API_KEY });
    await ask('POST', '/admin/projects/t/archive', undefined, apiKey);
    for (const path of ['projects', 'projects/t', 'projects/t/keys', 'projects/t/statement', 'audit']) {
      await ask('GET', `/admin/${path}`);
    }
    const rows = await service.roots.database.knex('audit_records').select('*');
    await service.stop();
    expect(rows).toHaveLength(5);
    expect(replies.at(-1)).toContain('key-rotated');
    const left = JSON.stringify([rows, logger.entries, replies]);
    const keys = [apiKey, rotated.key.apiKey, DEMO_API_KEY, ADMIN_TOKEN].map((key: string) =>
      key.slice(8, -4),
    );
    const secrets = [...keys, CODE, TEXT, TRIAL_NUMBER];
    expect(secrets.filter((secret) => left.includes(secret))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { depositEntry } from '../../src/domain/billing/ledger.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { ADMIN_TOKEN, admin, codeOf, done } from '../support/admin.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const NUMBER_ID = '664def456abc789012345678';
const HOOK = 'https://shop.example/inbound';
const HEX24 = /^[0-9a-f]{24}$/;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Within which every process knows of a change. */
const FRESH_MS = 2_000;

const start = (seed = seedWith({})) => startService({ adminToken: ADMIN_TOKEN, seed });

interface NewKey {
  readonly id: string;
  readonly apiKey: string;
}

interface AuditRecord {
  readonly action: string;
  readonly project: string;
  readonly actor: string;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
}

const auditOf = async (service: Harness, query = '') =>
  (await done<{ records: AuditRecord[] }>(service, `/audit${query}`)).records;

describe('the admin interface', () => {
  it('leads from a new project to its first message', async () => {
    const service = await start();
    const project = await done(service, '/projects', {
      body: { name: 'Souq', slug: 'souq', environment: 'dev', rateLimit: 'off' },
    });
    expect(project).toEqual({
      id: expect.stringMatching(HEX24),
      name: 'Souq',
      slug: 'souq',
      environment: 'dev',
      archivedAt: null,
      paymentType: 'prepaid',
      credit: 0,
      balance: 0,
      held: 0,
      spent: 0,
      isTrial: false,
      spendingThreshold: 'off',
      rateLimit: 'off',
      addressRateLimit: 'off',
      allowedIps: [],
      ipRuleScope: 'resources',
      settlement: 'quoted',
      billingUnits: 'flat140',
      language: 'ar',
      attemptTimeoutSeconds: { verification: 30, other: 300 },
      retention: 'off',
      lowCredit: 'off',
      weight: 1,
    });
    const { apiKey } = await done<NewKey>(service, '/projects/souq/keys', { method: 'POST' });
    expect(apiKey).toMatch(/^sk_dev_[0-9a-f]{40}$/);
    const body = verification(NUMBER, { provider: 'sms' });
    expect(codeOf(await service.request('/sms', { apiKey, body }))).toEqual([400, 'insufficient-credit']);
    expect(await done(service, '/projects/souq/top-ups', { body: { amount: 1_000 } })).toMatchObject({
      credit: 1_000,
      balance: 1_000,
      held: 0,
    });
    expect(await service.request('/sms', { apiKey, body })).toMatchObject({ status: 200 });
    expect(await done(service, `/projects/${project.id}`)).toMatchObject({ credit: 920, held: 80 });
    await service.advance(DAY_MS);
    await service.assertQuiet();
    expect((await auditOf(service)).map(({ action, actor }) => [action, actor])).toEqual([
      ['credit-added', 'operator'],
      ['key-created', 'operator'],
      ['project-created', 'operator'],
    ]);
  });

  it('serves a document of its own to the operator only, and adds nothing to that of the customers', async () => {
    const service = await start();
    const document = await done<{ paths: object; info: { title: string } }>(service, '/openapi.json');
    expect(document.info.title).toBe('Barid admin');
    expect(Object.keys(document.paths)).toEqual([
      '/admin/projects',
      '/admin/projects/{project}',
      '/admin/projects/{project}/archive',
      '/admin/projects/{project}/keys',
      '/admin/projects/{project}/keys/{key}/revoke',
      '/admin/projects/{project}/keys/{key}/rotate',
      '/admin/projects/{project}/top-ups',
      '/admin/projects/{project}/corrections',
      '/admin/projects/{project}/threshold-resets',
      '/admin/projects/{project}/statement',
      '/admin/projects/{project}/statement.csv',
      '/admin/projects/{project}/sender-ids',
      '/admin/projects/{project}/sender-ids/{sender}',
      '/admin/projects/{project}/sender-ids/{sender}/approve',
      '/admin/projects/{project}/sender-ids/{sender}/reject',
      '/admin/sender-ids',
      '/admin/projects/{project}/whatsapp',
      '/admin/projects/{project}/inbound-webhooks',
      '/admin/projects/{project}/inbound-webhooks/{phoneNumber}',
      '/admin/projects/{project}/inbound-webhooks/{phoneNumber}/rotate-secret',
      '/admin/jobs',
      '/admin/dead-letter-jobs',
      '/admin/dead-letter-jobs/redrive',
      '/admin/dead-letter-jobs/drop',
      '/admin/messages',
      '/admin/messages/{message}',
      '/admin/webhooks/events',
      '/admin/webhooks/events/{event}',
      '/admin/webhooks/events/{event}/resend',
      '/admin/webhooks/resends',
      '/admin/webhooks/circuits',
      '/admin/webhooks/circuits/close',
      '/admin/projects/{project}/webhook-events',
      '/admin/prices',
      '/admin/prices/previews',
      '/admin/prices/versions',
      '/admin/prices/versions/{version}',
      '/admin/prices/versions/{version}/withdraw',
      '/admin/audit',
      '/admin/openapi.json',
    ]);
    const without = await startService();
    expect((await service.request('/openapi.json')).body).toEqual(
      (await without.request('/openapi.json')).body,
    );
  });
});

describe('the projects of the admin interface', () => {
  it('changes take effect within 2 seconds, and only what changed is recorded', async () => {
    const service = await start();
    await service.request('/sms', { body: verification(NUMBER) });
    const changed = await done(service, '/projects/demo', {
      method: 'PATCH',
      body: { name: 'Demo 2', rateLimit: { maxRequests: 1, timeWindowMinutes: 60 }, spendingThreshold: 500 },
    });
    expect(changed).toMatchObject({
      name: 'Demo 2',
      spendingThreshold: 500,
      rateLimit: { maxRequests: 1, timeWindowMinutes: 60 },
      language: 'ar',
    });
    await service.advance(FRESH_MS);
    expect(codeOf(await service.request('/sms', { body: verification(NUMBER) }))).toEqual([
      429,
      'rate-limited',
    ]);
    expect(await auditOf(service)).toMatchObject([
      {
        action: 'project-changed',
        project: changed.id,
        before: {
          name: 'Demo',
          rateLimit: { maxRequests: 5, timeWindowMinutes: 10 },
          spendingThreshold: 'off',
        },
        after: {
          name: 'Demo 2',
          rateLimit: { maxRequests: 1, timeWindowMinutes: 60 },
          spendingThreshold: 500,
        },
      },
    ]);
  });

  it('a change of nothing is not recorded, and a limit can be switched off', async () => {
    const service = await start(seedWith({ spendingThreshold: 100 }));
    await done(service, '/projects/demo', { method: 'PATCH', body: { name: 'Demo', language: 'ar' } });
    expect(await auditOf(service)).toEqual([]);
    const off = { rateLimit: 'off', spendingThreshold: 'off' };
    expect(await done(service, '/projects/demo', { method: 'PATCH', body: off })).toMatchObject(off);
    expect(await done(service, '/projects/demo')).toMatchObject(off);
  });

  it('an archived project rejects its keys within 2 seconds, gets no new ones and keeps its money', async () => {
    const service = await start();
    await service.request('/info');
    const archived = await done(service, '/projects/demo/archive', { method: 'POST' });
    expect(archived).toMatchObject({ archivedAt: '2030-01-01T00:00:00.000Z', balance: 15_000 });
    await service.advance(FRESH_MS);
    expect(codeOf(await service.request('/info'))).toEqual([401, 'unauthorized']);
    expect(codeOf(await admin(service, '/projects/demo/keys', { method: 'POST' }))).toEqual([
      409,
      'project-archived',
    ]);
    expect(await done(service, '/projects/demo/archive', { method: 'POST' })).toEqual(archived);
    expect((await auditOf(service)).map(({ action }) => action)).toEqual(['project-archived']);
  });

  it('projects are listed in pages, each once', async () => {
    const service = await start();
    for (const slug of ['a', 'b', 'c']) {
      await done(service, '/projects', { body: { name: slug, slug, environment: 'live' } });
    }
    const slugs: string[] = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const page = await done<{ projects: { slug: string }[]; next: string | null }>(
        service,
        `/projects${query}`,
      );
      slugs.push(...page.projects.map(({ slug }) => slug));
      query = page.next === null ? '' : `?limit=2&cursor=${page.next}`;
    }
    expect(slugs.sort()).toEqual(['a', 'b', 'c', 'demo']);
  });

  it.each<[string, unknown]>([
    ['name is required', { slug: 'x', environment: 'dev' }],
    [
      'slug must be 1 to 60 of a-z, 0-9 and -, and not 24 hex characters',
      { name: 'X', slug: 'X', environment: 'dev' },
    ],
    ['environment must be one of live, dev', { name: 'X', slug: 'x', environment: 'test' }],
    [
      'rateLimit.maxRequests must be a whole number from 1 to 10000',
      { name: 'X', slug: 'x', environment: 'dev', rateLimit: { maxRequests: 0, timeWindowMinutes: 1 } },
    ],
    [
      'allowedIps must be a list of at most 1000 addresses or CIDR ranges',
      { name: 'X', slug: 'x', environment: 'dev', allowedIps: ['home'] },
    ],
    [
      'spendingThreshold must be an IQD amount from 0 to 1000000000 with at most three decimals',
      { name: 'X', slug: 'x', environment: 'dev', spendingThreshold: -1 },
    ],
  ])('a new project is rejected with the text: %s', async (error, body) => {
    const service = await start();
    expect(await admin(service, '/projects', { body })).toMatchObject({ status: 400, body: { error } });
  });

  it('a slug is given once, and an unknown project is a 404', async () => {
    const service = await start();
    const body = { name: 'Demo', slug: 'demo', environment: 'dev' };
    expect(codeOf(await admin(service, '/projects', { body }))).toEqual([409, 'slug-taken']);
    const both = await Promise.all(
      [1, 2].map(() => admin(service, '/projects', { body: { ...body, slug: 'both' } })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    for (const path of ['', '/keys', '/statement', '/statement.csv']) {
      expect(codeOf(await admin(service, `/projects/nobody${path}`))).toEqual([404, 'project-not-found']);
    }
    expect(codeOf(await admin(service, '/audit?project=nobody'))).toEqual([404, 'project-not-found']);
  });
});

describe('the keys of the admin interface', () => {
  it('a list shows the ends of keys, and a revoked key is rejected within 2 seconds', async () => {
    const service = await start();
    const made = await done<NewKey>(service, '/projects/demo/keys', { method: 'POST' });
    expect(await service.request('/info', { apiKey: made.apiKey })).toMatchObject({ status: 200 });
    const { keys } = await done<{ keys: NewKey[] }>(service, '/projects/demo/keys');
    expect(keys).toContainEqual({
      id: made.id,
      prefix: 'sk_dev_',
      lastFour: made.apiKey.slice(-4),
      status: 'active',
      createdAt: '2030-01-01T00:00:00.000Z',
      endsAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
    expect(JSON.stringify(keys)).not.toContain(made.apiKey.slice(7, -4));
    const revoked = await done(service, `/projects/demo/keys/${made.id}/revoke`, { method: 'POST' });
    expect(revoked).toMatchObject({ status: 'revoked', revokedAt: '2030-01-01T00:00:00.002Z' });
    await service.advance(FRESH_MS);
    expect(codeOf(await service.request('/info', { apiKey: made.apiKey }))).toEqual([401, 'unauthorized']);
    expect(await service.request('/info')).toMatchObject({ status: 200 });
    expect(await done(service, `/projects/demo/keys/${made.id}/revoke`, { method: 'POST' })).toEqual(revoked);
    expect((await auditOf(service)).map(({ action }) => action)).toEqual(['key-revoked', 'key-created']);
  });

  it('a rotated key works until the overlap is over, and the new one from the start', async () => {
    const service = await start();
    const old = await done<NewKey>(service, '/projects/demo/keys', { method: 'POST' });
    const { key, replaced } = await done<{ key: NewKey; replaced: object }>(
      service,
      `/projects/demo/keys/${old.id}/rotate`,
      { body: { overlapMinutes: 10 } },
    );
    expect(replaced).toMatchObject({ id: old.id, status: 'ending', endsAt: '2030-01-01T00:10:00.001Z' });
    await service.advance(10 * MINUTE_MS - 2);
    for (const { apiKey } of [old, key]) {
      expect(await service.request('/info', { apiKey })).toMatchObject({ status: 200 });
    }
    await service.advance(FRESH_MS + 1);
    expect(codeOf(await service.request('/info', { apiKey: old.apiKey }))).toEqual([401, 'unauthorized']);
    expect(await service.request('/info', { apiKey: key.apiKey })).toMatchObject({ status: 200 });
    expect(codeOf(await admin(service, `/projects/demo/keys/${old.id}/rotate`, { body: {} }))).toEqual([
      409,
      'key-not-working',
    ]);
    expect((await auditOf(service))[0]).toMatchObject({
      action: 'key-rotated',
      before: { keyId: old.id, endsAt: null },
      after: { keyId: old.id, endsAt: '2030-01-01T00:10:00.001Z', newKeyId: key.id },
    });
  });

  it('a key is found in its own project only', async () => {
    const service = await start();
    await done(service, '/projects', { body: { name: 'B', slug: 'b', environment: 'dev' } });
    const { id } = await done<NewKey>(service, '/projects/b/keys', { method: 'POST' });
    for (const key of [id, id.slice(0, 10), 'x']) {
      expect(codeOf(await admin(service, `/projects/demo/keys/${key}/revoke`, { method: 'POST' }))).toEqual([
        404,
        'key-not-found',
      ]);
    }
    expect(
      codeOf(await admin(service, `/projects/b/keys/${id.slice(0, 10)}/revoke`, { method: 'POST' })),
    ).toEqual([404, 'key-not-found']);
  });

  it('a project has a hundred keys that work at most, and revoked ones do not count', async () => {
    const service = await start();
    const ids: string[] = [];
    for (let count = 1; count < 100; count += 1) {
      ids.push((await done<NewKey>(service, '/projects/demo/keys', { method: 'POST' })).id);
    }
    expect(codeOf(await admin(service, '/projects/demo/keys', { method: 'POST' }))).toEqual([
      409,
      'too-many-keys',
    ]);
    await done(service, `/projects/demo/keys/${ids[0]}/revoke`, { method: 'POST' });
    await done(service, '/projects/demo/keys', { method: 'POST' });
    const seen: string[] = [];
    for (let query = '?limit=40'; query !== ''; ) {
      const page = await done<{ keys: NewKey[]; next: string | null }>(
        service,
        `/projects/demo/keys${query}`,
      );
      seen.push(...page.keys.map((key) => key.id));
      query = page.next === null ? '' : `?limit=40&cursor=${page.next}`;
    }
    expect([seen.length, new Set(seen).size]).toEqual([101, 101]);
  });
});

describe('the money of the admin interface', () => {
  it('the first top-up ends the trial, and a correction does not', async () => {
    const service = await start(seedWith({ credit: 0, trial: { ownPhoneNumber: NUMBER } }));
    const correction = { amount: 500, reason: 'A present' };
    expect(await done(service, '/projects/demo/corrections', { body: correction })).toMatchObject({
      credit: 500,
      isTrial: true,
    });
    const other = verification('9647701234568');
    expect(codeOf(await service.request('/sms', { body: other }))).toEqual([400, 'trial-mode']);
    expect(await done(service, '/projects/demo/top-ups', { body: { amount: 0.125 } })).toMatchObject({
      credit: 500.125,
      isTrial: false,
    });
    expect(await service.request('/sms', { body: other })).toMatchObject({ status: 200 });
    expect(await auditOf(service)).toMatchObject([
      {
        action: 'credit-added',
        before: { balance: 500, isTrial: true },
        after: { balance: 500.125, isTrial: false, amount: 0.125, reason: null },
      },
      { action: 'credit-corrected', before: { balance: 0 }, after: { balance: 500, reason: 'A present' } },
    ]);
  });

  it('a correction leaves a prepaid project what it holds', async () => {
    const service = await start(seedWith({ credit: 100 }));
    await service.request('/sms', { body: verification(NUMBER, { provider: 'sms' }) });
    const correct = (amount: number) =>
      admin(service, '/projects/demo/corrections', { body: { amount, reason: 'A test' } });
    const rejected = await correct(-20.001);
    expect(rejected).toMatchObject({
      status: 409,
      body: { error: 'The correction would leave less than is held', balance: 100, held: 80 },
    });
    expect(codeOf(rejected)).toEqual([409, 'balance-below-holds']);
    expect(await correct(-20)).toMatchObject({ status: 200, body: { balance: 80, credit: 0, held: 80 } });
    await service.advance(DAY_MS);
    await service.assertQuiet();
  });

  it('a top-up or a correction that makes a balance more than a trillion IQD is rejected', async () => {
    const service = await start(seedWith({ credit: 0 }));
    await service.service.roots.unitOfWork.run(async ({ projects, ledger }) => {
      const project = await projects.named('demo');
      const occurrence = { projectId: project?.id ?? '', reference: 'earlier', at: 0 };
      await ledger.post([depositEntry(occurrence, iqd(999_999_999_999))]);
    });
    for (const path of ['top-ups', 'corrections']) {
      const body = { amount: 1.001, reason: 'A test' };
      const rejected = await admin(service, `/projects/demo/${path}`, { body });
      expect(codeOf(rejected)).toEqual([409, 'balance-too-large']);
    }
    const topped = await admin(service, '/projects/demo/top-ups', { body: { amount: 1 } });
    expect(topped).toMatchObject({ status: 200, body: { balance: 1_000_000_000_000 } });
  });

  it('a top-up and a correction with one Idempotency-Key happen once each', async () => {
    const service = await start(seedWith({ credit: 0 }));
    const headers = { 'idempotency-key': 'invoice-4711' };
    for (const path of ['top-ups', 'corrections']) {
      const body = { amount: 100, reason: 'Invoice 4711' };
      const request = () => admin(service, `/projects/demo/${path}`, { body, headers });
      const replies = await Promise.all([request(), request(), request()]);
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(replies.map((reply) => (reply.body as { id: string }).id)).size).toBe(1);
      expect(replies.filter((reply) => reply.headers.get('idempotency-replayed') === 'true')).toHaveLength(2);
      const other = await admin(service, `/projects/demo/${path}`, {
        body: { ...body, amount: 101 },
        headers,
      });
      expect(codeOf(other)).toEqual([409, 'idempotency-conflict']);
    }
    expect(await done(service, '/projects/demo')).toMatchObject({ balance: 200 });
    expect(await auditOf(service)).toHaveLength(2);
  });

  it('a reset lets a project send again that has reached its threshold', async () => {
    const service = await start(seedWith({ spendingThreshold: 80, rateLimit: null }));
    const body = verification(NUMBER, { provider: 'sms' });
    await service.request('/sms', { body });
    await service.advance(DAY_MS);
    expect(codeOf(await service.request('/sms', { body }))).toEqual([400, 'spending-threshold']);
    expect(await done(service, '/projects/demo/threshold-resets', { method: 'POST' })).toMatchObject({
      spent: 0,
      balance: 14_920,
    });
    expect(await service.request('/sms', { body })).toMatchObject({ status: 200 });
    expect(await auditOf(service)).toMatchObject([
      { action: 'threshold-reset', before: { spent: 80 }, after: { spent: 0 } },
    ]);
    await service.advance(DAY_MS);
    await service.assertQuiet();
  });

  it('a statement has every entry but holds with the balance after it, page by page and as csv', async () => {
    const service = await start(seedWith({ credit: 1_000, rateLimit: null }));
    for (let count = 0; count < 3; count += 1) {
      await service.request('/sms', { body: verification(NUMBER, { provider: 'sms' }) });
      await service.advance(MINUTE_MS);
    }
    await done(service, '/projects/demo/corrections', { body: { amount: -60.5, reason: 'A test' } });
    await service.advance(MINUTE_MS / 2);
    await done(service, '/projects/demo/top-ups', { body: { amount: 100 } });
    const expected = [
      ['deposit', 100, 799.5],
      ['correction', -60.5, 699.5],
      ['settlement', -80, 760],
      ['settlement', -80, 840],
      ['settlement', -80, 920],
      ['deposit', 1_000, 1_000],
    ];
    interface Page {
      readonly lines: { kind: string; amount: number; balance: number; at: string; reference: string }[];
      readonly next: string | null;
    }
    for (const limit of [1, 2, 6, 50]) {
      const lines: unknown[] = [];
      for (let query = `?limit=${limit}`; query !== ''; ) {
        const page: Page = await done<Page>(service, `/projects/demo/statement${query}`);
        lines.push(...page.lines.map(({ kind, amount, balance }) => [kind, amount, balance]));
        query = page.next === null ? '' : `?limit=${limit}&cursor=${page.next}`;
      }
      expect(lines).toEqual(expected);
    }
    const csv = await admin(service, '/projects/demo/statement.csv');
    const rows = String(csv.body).trimEnd().split('\r\n');
    expect(rows.map((row) => row.split(',').toSpliced(2, 1).slice(1).join())).toEqual([
      'kind,credited,charged,balance',
      'deposit,100,,799.5',
      'correction,,60.5,699.5',
      'settlement,,80,760',
      'settlement,,80,840',
      'settlement,,80,920',
      'deposit,1000,,1000',
    ]);
  });

  it('a cursor of the statement of another project is rejected', async () => {
    const service = await start();
    const other = { name: 'Other', slug: 'other', environment: 'dev' };
    await done(service, '/projects', { body: other });
    for (const slug of ['demo', 'other'])
      for (let n = 0; n < 2; n += 1)
        await done(service, `/projects/${slug}/top-ups`, { body: { amount: 1 } });
    const { next } = await done<{ next: string }>(service, '/projects/demo/statement?limit=1');
    expect((await admin(service, `/projects/demo/statement?cursor=${next}`)).status).toBe(200);
    expect(codeOf(await admin(service, `/projects/other/statement?cursor=${next}`))).toEqual([
      400,
      'validation-failed',
    ]);
  });

  it.each([
    'projects?cursor=x',
    'projects/demo/keys?cursor=WzFd',
    'projects/demo/statement?cursor=e30',
    'projects/demo/statement?cursor=WyJ4Iiw5MDA3MTk5MjU0NzQwOTkxLCJ-IiwtOTAwNzE5OTI1NDc0MDk5MV0',
    'projects/demo/inbound-webhooks?cursor=WzFd',
    'audit?cursor=W10',
  ])('a made-up cursor is rejected: %s', async (path) => {
    const service = await start();
    expect(await admin(service, `/${path}`)).toMatchObject({
      status: 400,
      body: { error: 'cursor is not one of a page' },
    });
  });
});

describe('the last use of keys', () => {
  it('a list of keys says when each was used last', async () => {
    const service = await start();
    // The newer key is the first of the list.
    await service.advance(1);
    await done(service, '/projects/demo/keys', { method: 'POST' });
    const uses = async () => {
      const { keys } = await done<{ keys: { lastUsedAt: string | null }[] }>(service, '/projects/demo/keys');
      return keys.map(({ lastUsedAt }) => lastUsedAt);
    };
    expect(await uses()).toEqual([null, null]);
    await service.advance(5 * MINUTE_MS);
    await service.request('/info');
    await service.service.roots.keyUses.write();
    expect(await uses()).toEqual([null, '2030-01-01T00:05:00.003Z']);
  });
});

describe('who may use the admin interface', () => {
  const PATHS: readonly [method: string, path: string, body?: unknown][] = [
    ['GET', '/admin/projects'],
    ['POST', '/admin/projects', { name: 'X', slug: 'x', environment: 'dev' }],
    ['GET', '/admin/projects/demo'],
    ['PATCH', '/admin/projects/demo', { name: 'X' }],
    ['POST', '/admin/projects/demo/archive'],
    ['GET', '/admin/projects/demo/keys'],
    ['POST', '/admin/projects/demo/keys'],
    ['POST', '/admin/projects/demo/keys/KEY/revoke'],
    ['POST', '/admin/projects/demo/keys/KEY/rotate', {}],
    ['POST', '/admin/projects/demo/top-ups', { amount: 1 }],
    ['POST', '/admin/projects/demo/corrections', { amount: 1, reason: 'X' }],
    ['POST', '/admin/projects/demo/threshold-resets'],
    ['GET', '/admin/projects/demo/statement'],
    ['GET', '/admin/projects/demo/statement.csv'],
    ['GET', '/admin/projects/demo/sender-ids'],
    [
      'POST',
      '/admin/projects/demo/sender-ids',
      { senderId: 'X', pricePerSms: { korekTelecom: 1, asiaCell: 1, zainIraq: 1, others: 1 } },
    ],
    ['PATCH', '/admin/projects/demo/sender-ids/Barid', { pricePerSms: {} }],
    ['POST', '/admin/projects/demo/sender-ids/Barid/approve'],
    ['POST', '/admin/projects/demo/sender-ids/Barid/reject', { reason: 'X' }],
    ['GET', '/admin/sender-ids'],
    ['GET', '/admin/projects/demo/whatsapp'],
    ['PUT', '/admin/projects/demo/whatsapp', { businesses: [] }],
    ['POST', '/admin/projects/demo/inbound-webhooks', { whatsappPhoneId: NUMBER_ID, url: HOOK }],
    ['GET', '/admin/projects/demo/inbound-webhooks'],
    ['PATCH', `/admin/projects/demo/inbound-webhooks/${NUMBER_ID}`, { url: HOOK }],
    ['DELETE', `/admin/projects/demo/inbound-webhooks/${NUMBER_ID}`],
    ['POST', `/admin/projects/demo/inbound-webhooks/${NUMBER_ID}/rotate-secret`, {}],
    ['GET', '/admin/jobs'],
    ['GET', '/admin/dead-letter-jobs'],
    ['POST', '/admin/dead-letter-jobs/redrive', { ids: [] }],
    ['POST', '/admin/dead-letter-jobs/drop', { ids: [] }],
    ['GET', '/admin/messages'],
    ['GET', '/admin/messages/sms-000000000000000000000000'],
    ['GET', '/admin/webhooks/events'],
    ['GET', '/admin/webhooks/events/000000000000000000000000'],
    ['POST', '/admin/webhooks/events/000000000000000000000000/resend'],
    ['POST', '/admin/webhooks/resends', { project: 'demo', endpoint: 'shop.example/' }],
    ['GET', '/admin/webhooks/circuits'],
    ['POST', '/admin/webhooks/circuits/close', { project: 'demo', endpoint: 'shop.example/' }],
    ['GET', '/admin/projects/demo/webhook-events'],
    ['GET', '/admin/prices'],
    ['POST', '/admin/prices/previews', { telegram: 1 }],
    ['POST', '/admin/prices/versions?preview=x', { telegram: 1 }],
    ['GET', '/admin/prices/versions'],
    ['GET', '/admin/prices/versions/x'],
    ['POST', '/admin/prices/versions/x/withdraw'],
    ['GET', '/admin/audit'],
    ['GET', '/admin/openapi.json'],
  ];

  it('nothing can be read or changed without the token, with a wrong one or with a project key', async () => {
    const service = await start();
    const { keys } = await done<{ keys: NewKey[] }>(service, '/projects/demo/keys');
    const before = await done(service, '/projects/demo');
    const { paths } = await done<{ paths: Record<string, object> }>(service, '/openapi.json');
    const declared = Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);
    expect(PATHS).toHaveLength(declared);
    for (const [method, path, body] of PATHS) {
      for (const apiKey of [
        null,
        DEMO_API_KEY,
        `${ADMIN_TOKEN}x`,
        ADMIN_TOKEN.slice(0, -1),
        ADMIN_TOKEN.toUpperCase(),
      ]) {
        for (const prefix of ['', '/api']) {
          const target = prefix + path.replace('KEY', keys[0]?.id ?? '');
          const reply = await service.request(target, { method, apiKey, body });
          expect(reply.body).toEqual({ message: 'Unauthorized, please use the operator token' });
          expect(codeOf(reply)).toEqual([401, 'unauthorized']);
        }
      }
    }
    expect(await done(service, '/projects/demo')).toEqual(before);
    expect(await auditOf(service)).toEqual([]);
    expect(await done(service, '/projects')).toMatchObject({ projects: [before] });
  });

  it('every path is unknown while no token is set', async () => {
    const service = await startService();
    for (const [method, path, body] of PATHS) {
      for (const apiKey of [null, DEMO_API_KEY, ADMIN_TOKEN, '']) {
        const reply = await service.request(path, { method, apiKey, body });
        expect(codeOf(reply)).toEqual([404, 'not-found']);
      }
    }
    expect(codeOf(await service.request('/admin/projects', { method: 'OPTIONS' }))).toEqual([
      404,
      'not-found',
    ]);
  });
});

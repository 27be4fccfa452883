import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { Service } from '../../src/bootstrap/service.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const TURKISH = '905321234567';
const FRESH_MS = 2_000;
const DAY_MS = 86_400_000;
const HEADER = 'continent,countryIso,countryCode,country,networkId,network,mccMnc,price';
const TURKEY = 'Asia,TR,90,Turkey,tr_all,All networks,28601,130.125';
const JORDAN = 'Asia,JO,962,Jordan,jo_zain,"Zain, Jordan ""Z""",41601,55';

const LIST = {
  sms: { korekTelecom: 81, asiaCell: 82, zainIraq: 83, others: 101 },
  whatsapp: { AUTHENTICATION: 61, UTILITY: 61, MARKETING: 91 },
  telegram: 41,
};

interface Reply {
  readonly status: number;
  readonly code: string | null;
  readonly body: Record<string, unknown>;
}

async function ask(url: string, method: string, path: string, key: string, body?: unknown): Promise<Reply> {
  const isText = typeof body === 'string';
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': isText ? 'text/csv' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    code: response.headers.get('x-error-code'),
    body: text === '' ? {} : JSON.parse(text),
  };
}

const start = () => startService({ adminToken: ADMIN_TOKEN, seed: seedWith({ rateLimit: null }) });

const admin = async (service: Harness, method: string, path: string, body?: unknown) =>
  ask(await service.url, method, `/admin/prices${path}`, ADMIN_TOKEN, body);

const search = (given: Record<string, string | undefined>) =>
  `?${new URLSearchParams(Object.entries(given).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]])))}`;

/** Previews and applies an import, which has to succeed. Each has a millisecond of its own. */
async function imported(service: Harness, body: unknown, effectiveFrom?: string): Promise<string> {
  const preview = await admin(service, 'POST', `/previews${search({ effectiveFrom })}`, body);
  expect(preview).toMatchObject({ status: 200 });
  const query = search({ effectiveFrom, preview: String(preview.body.preview) });
  const applied = await admin(service, 'POST', `/versions${query}`, body);
  expect(applied).toMatchObject({ status: 200 });
  await service.advance(1);
  return String(applied.body.id);
}

async function costOf(service: Harness, phoneNumber = NUMBER): Promise<unknown> {
  const { status, body } = await service.request('/sms', {
    body: verification(phoneNumber, { provider: 'sms' }),
  });
  expect(status).toBe(200);
  return (body as { cost: number }).cost;
}

const later = (service: Harness, ms: number) => new Date(service.now().getTime() + ms).toISOString();

describe('the price list of operators', () => {
  it('a preview says what an import changes and changes nothing, and the import is in force within 2 seconds', async () => {
    const service = await start();
    expect(await costOf(service)).toBe(80);
    const csv = `\uFEFF${HEADER}\r\n${TURKEY}\r\n${JORDAN}\r\n`;
    const preview = await admin(service, 'POST', '/previews', csv);
    const seeded = (await admin(service, 'GET', '')).body as { version: { id: string } };
    expect(seeded).toMatchObject({
      version: { actor: 'seed', status: 'in-force', effectiveFrom: '1970-01-01T00:00:00.000Z', rows: 1 },
      total: 1,
      telegram: 40,
    });
    expect(preview.body).toMatchObject({
      replaces: seeded.version.id,
      effectiveFrom: null,
      rows: 2,
      added: 1,
      removed: 0,
      changed: 1,
      unchanged: 0,
      system: [],
      international: [
        { before: null, after: { countryIso: 'JO', network: 'Zain, Jordan "Z"', price: 55 } },
        { before: { networkId: 'tr_all', price: 120 }, after: { networkId: 'tr_all', price: 130.125 } },
      ],
    });
    expect((await admin(service, 'GET', '')).body).toEqual(seeded);
    expect((await admin(service, 'GET', '/versions')).body).toEqual({
      versions: [seeded.version],
      next: null,
    });

    const id = await imported(service, csv);
    await service.advance(FRESH_MS);
    expect(await costOf(service, TURKISH)).toBe(130.125);
    expect(await costOf(service)).toBe(80);
    expect((await service.request('/international-sms-pricing?countryIso=jo')).body).toMatchObject({
      total: 1,
      items: [{ countryIso: 'JO', network: 'Zain, Jordan "Z"', price: 55 }],
    });
    expect((await admin(service, 'GET', '')).body).toMatchObject({
      version: { id, status: 'in-force', actor: 'operator', rows: 2 },
      sms: { korekTelecom: 80, asiaCell: 80, zainIraq: 80, others: 100 },
      total: 2,
    });
    const { versions } = (await admin(service, 'GET', '/versions')).body as { versions: { id: string }[] };
    expect(versions).toMatchObject([
      { id, status: 'in-force' },
      { status: 'replaced', actor: 'seed', effectiveFrom: '1970-01-01T00:00:00.000Z', rows: 1 },
    ]);
    expect((await admin(service, 'GET', `/versions/${versions[1]?.id}`)).body).toMatchObject({
      telegram: 40,
      international: [{ networkId: 'tr_all', mccMnc: '28601', price: 120 }],
    });
    const audit = (await ask(await service.url, 'GET', '/admin/audit', ADMIN_TOKEN)).body;
    expect(audit).toMatchObject({
      records: [
        {
          action: 'prices-imported',
          project: null,
          after: { version: id, rows: 2, added: 1, removed: 0, changed: 1 },
        },
      ],
    });
  });

  it('prices of a later instant are in force from that very instant, and messages that are accepted keep their price', async () => {
    const service = await start();
    const first = await service.request('/sms', { body: verification(NUMBER, { provider: 'sms' }) });
    const at = later(service, 10_000);
    const id = await imported(service, LIST, at);
    expect((await admin(service, 'GET', `/versions/${id}`)).body).toMatchObject({
      version: { status: 'scheduled', effectiveFrom: at },
    });
    await service.advance(new Date(at).getTime() - service.now().getTime() - 1);
    expect(await costOf(service)).toBe(80);
    await service.advance(1);
    expect(await costOf(service)).toBe(82);
    const { smsId } = first.body as { smsId: string };
    expect((await service.request(`/sms/track/${smsId}`)).body).toMatchObject({ cost: 80 });
    await service.advance(DAY_MS);
    await service.assertQuiet();
    // What the import left out stays.
    expect((await admin(service, 'GET', '')).body).toMatchObject({ version: { id }, total: 1, telegram: 41 });
  });

  it('a version is withdrawn before it is in force only', async () => {
    const service = await start();
    const id = await imported(service, LIST, later(service, 30_000));
    const close = await imported(service, { telegram: 1 }, later(service, 12_000));
    expect((await admin(service, 'POST', `/versions/${id}/withdraw`)).body).toMatchObject({
      id,
      status: 'withdrawn',
    });
    expect((await admin(service, 'POST', `/versions/${id}/withdraw`)).status).toBe(200);
    await service.advance(3_000);
    const late = await admin(service, 'POST', `/versions/${close}/withdraw`);
    expect([late.status, late.code]).toEqual([409, 'prices-in-force']);
    await service.advance(20_000);
    expect(await costOf(service)).toBe(80);
    expect((await admin(service, 'GET', '')).body).toMatchObject({ version: { id: close }, telegram: 1 });
    const unknown = await admin(service, 'POST', '/versions/664abc00000000000000000a/withdraw');
    expect([unknown.status, unknown.code]).toEqual([404, 'unknown-price-version']);
    const { records } = (await ask(await service.url, 'GET', '/admin/audit', ADMIN_TOKEN)).body as {
      records: { action: string }[];
    };
    expect(records.map(({ action }) => action)).toEqual([
      'prices-withdrawn',
      'prices-imported',
      'prices-imported',
    ]);
  });

  it('an import is applied only as it was previewed: of two operators at once one gets 409', async () => {
    const service = await start();
    const one = { telegram: 50 };
    const other = { telegram: 60 };
    const previewOf = async (body: unknown) => (await admin(service, 'POST', '/previews', body)).body.preview;
    const [first, second] = [await previewOf(one), await previewOf(other)];
    const swapped = await admin(service, 'POST', `/versions?preview=${first}`, other);
    expect([swapped.status, swapped.code]).toEqual([409, 'preview-outdated']);
    const replies = await Promise.all([
      admin(service, 'POST', `/versions?preview=${first}`, one),
      admin(service, 'POST', `/versions?preview=${second}`, other),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const again = await admin(service, 'POST', `/versions?preview=${first}`, one);
    expect([again.status, again.code]).toEqual([409, 'preview-outdated']);
    const { versions } = (await admin(service, 'GET', '/versions')).body as { versions: object[] };
    expect(versions).toHaveLength(2);
  });

  it('a client that sends its file slowly keeps no other import waiting', async () => {
    const service = await start();
    const slow = request(`${await service.url}/admin/prices/previews`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        'content-type': 'application/json',
        expect: '100-continue',
      },
    });
    slow.flushHeaders();
    await once(slow, 'continue');
    expect(await admin(service, 'POST', '/previews', { telegram: 50 })).toMatchObject({ status: 200 });
    slow.end(JSON.stringify({ telegram: 60 }));
    const [response] = (await once(slow, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  it('a preview is outdated when a scheduled version comes into force, or one is withdrawn', async () => {
    const service = await start();
    const scheduled = await imported(service, LIST, later(service, 10_000));
    const next = await imported(service, { telegram: 7 }, later(service, 60_000));
    const { preview } = (await admin(service, 'POST', '/previews', { telegram: 1 })).body;
    await service.advance(10_000);
    const late = await admin(service, 'POST', `/versions?preview=${preview}`, { telegram: 1 });
    expect(late.code).toBe('preview-outdated');
    const now = await admin(service, 'POST', '/previews', { telegram: 1 });
    expect(now.body).toMatchObject({
      replaces: scheduled,
      system: [{ name: 'telegram', before: 41, after: 1 }],
    });
    await admin(service, 'POST', `/versions/${next}/withdraw`);
    const outdated = await admin(service, 'POST', `/versions?preview=${now.body.preview}`, { telegram: 1 });
    expect(outdated.code).toBe('preview-outdated');
  });

  it('every mistake of a file is told with its line and field, and nothing is changed', async () => {
    const service = await start();
    const before = (await admin(service, 'GET', '/versions')).body;
    const rows = [HEADER, TURKEY, 'Asia,tr,90,,x,y,28602,1.0005', 'Asia,TR', TURKEY, JORDAN].join('\n');
    const csv = await admin(service, 'POST', '/previews', rows);
    expect([csv.status, csv.code]).toEqual([400, 'invalid-prices']);
    expect(csv.body.errors).toMatchObject([
      { line: 3, field: 'countryIso', problem: 'must be two upper-case letters' },
      { line: 3, field: 'country' },
      { line: 3, field: 'price' },
      { line: 4, field: null, problem: 'has 2 cells, and the first line has 8' },
      { line: 5, field: 'networkId' },
    ]);
    const json = await admin(service, 'POST', '/previews', {
      sms: { ...LIST.sms, others: -1 },
      telegrams: 1,
      international: [{ countryIso: 'TR' }, 7],
    });
    expect(json.body.errors).toMatchObject([
      ...['continent', 'countryCode', 'country', 'networkId', 'network', 'mccMnc', 'price'].map((field) => ({
        line: 1,
        field,
        problem: 'is required',
      })),
      { line: 1, field: null, problem: 'must be an object' },
      { line: null, field: 'telegrams' },
      { line: null, field: 'sms.others' },
    ]);
    const many = await admin(service, 'POST', '/previews', `${HEADER}\n${'x\n'.repeat(200)}`);
    expect(many.body.errors).toHaveLength(100);
    const cases: [unknown, object][] = [
      ['', { line: 1, problem: 'the file has no header' }],
      [`${HEADER}\n`, { line: null, problem: 'the file has no rows' }],
      ['a,price', { field: 'continent', problem: 'the header lacks the column' }],
      [`${HEADER}\n"Asia`, { line: 2, problem: 'a quoted cell has no end' }],
      [{}, { line: null, field: null }],
      [{ international: 7 }, { field: 'international', problem: 'must be a list of rows' }],
    ];
    for (const [body, mistake] of cases) {
      const { errors } = (await admin(service, 'POST', '/previews', body)).body as { errors: object[] };
      expect(errors[0]).toMatchObject(mistake);
    }
    expect((await admin(service, 'GET', '/versions')).body).toEqual(before);
  });

  it('an import that cannot be scheduled or read has a documented error', async () => {
    const service = await start();
    const past = await admin(
      service,
      'POST',
      `/previews${search({ effectiveFrom: later(service, 0) })}`,
      LIST,
    );
    expect([past.status, past.code]).toEqual([400, 'effective-from-past']);
    const odd = await admin(service, 'POST', '/previews?effectiveFrom=tomorrow', LIST);
    expect([odd.status, odd.code]).toEqual([400, 'validation-failed']);
    const without = await admin(service, 'POST', '/versions', LIST);
    expect([without.status, without.code]).toEqual([400, 'validation-failed']);
    const response = await fetch(`${await service.url}/admin/prices/previews`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'text/plain' },
      body: 'x',
    });
    expect([response.status, response.headers.get('x-error-code')]).toEqual([415, 'unsupported-media-type']);
    for (let count = 1; count <= 20; count += 1) {
      await imported(service, { telegram: count }, later(service, DAY_MS));
    }
    const full = await admin(
      service,
      'POST',
      `/previews${search({ effectiveFrom: later(service, DAY_MS) })}`,
      LIST,
    );
    expect([full.status, full.code]).toEqual([409, 'too-many-scheduled-prices']);
  });

  it('the rows of a list and the history have pages, which go on in the version that they began with', async () => {
    const service = await start();
    const rows = Array.from(
      { length: 5 },
      (_, index) => `Asia,TR,90,Turkey,tr_${index},N${index},2860${index},${index}`,
    );
    await imported(service, [HEADER, JORDAN, ...rows].join('\n'));
    const first = (await admin(service, 'GET', '?limit=4')).body as { international: object[]; next: string };
    await imported(service, `${HEADER}\n${TURKEY}`);
    const second = (await admin(service, 'GET', `?cursor=${first.next}`)).body as typeof first;
    const names = [...first.international, ...second.international].map(
      (row) => (row as { networkId: string }).networkId,
    );
    expect(names).toEqual(['jo_zain', 'tr_0', 'tr_1', 'tr_2', 'tr_3', 'tr_4']);
    expect(second.next).toBeNull();
    const page = (await admin(service, 'GET', '/versions?limit=2')).body as {
      versions: object[];
      next: string;
    };
    const rest = (await admin(service, 'GET', `/versions?limit=2&cursor=${page.next}`)).body as typeof page;
    expect([page.versions.length, rest.versions.length, rest.next]).toEqual([2, 1, null]);
    const madeUp = await admin(service, 'GET', '?cursor=x');
    expect([madeUp.status, madeUp.code]).toEqual([400, 'validation-failed']);
  });

  it('a cursor of the list of the seed goes on in it once an imported list is in force', async () => {
    const seed = seedWith({ rateLimit: null });
    const [row] = seed.prices.international ?? [];
    if (row === undefined) throw new Error('The demo has a row');
    const international = [row, { ...row, networkId: 'another', mccMnc: '28602' }];
    const prices = { ...seed.prices, international };
    const service = await startService({ adminToken: ADMIN_TOKEN, seed: { ...seed, prices } });
    const first = (await admin(service, 'GET', '?limit=1')).body as { next: string };
    await imported(service, [HEADER, JORDAN, TURKEY].join('\n'));
    expect((await admin(service, 'GET', `?cursor=${first.next}`)).body).toMatchObject({
      version: { actor: 'seed', status: 'replaced' },
      total: 2,
      international: [{ networkId: 'another' }],
      next: null,
    });
  });

  it('a cursor of another version or country is rejected', async () => {
    const service = await start();
    const rows = Array.from(
      { length: 2 },
      (_, index) => `Asia,TR,90,Turkey,tr_${index},N${index},2860${index},9`,
    );
    await imported(service, [HEADER, JORDAN, ...rows].join('\n'));
    await imported(service, `${HEADER}\n${TURKEY}`);
    const { versions } = (await admin(service, 'GET', '/versions')).body as { versions: { id: string }[] };
    const [newer, older] = versions.map(({ id }) => `/versions/${id}`);
    const ofOlder = (await admin(service, 'GET', `${older}?limit=1&countryIso=tr`)).body as { next: string };
    const followed = (query: string) => admin(service, 'GET', `${query}cursor=${ofOlder.next}`);
    expect((await followed(`${older}?countryIso=TR&`)).body).toMatchObject({
      international: [{ networkId: 'tr_1' }],
      next: null,
    });
    for (const query of [
      `${newer}?countryIso=TR&`,
      `${older}?countryIso=JO&`,
      `${older}?`,
      '?countryIso=JO&',
      '?',
    ])
      expect([query, (await followed(query)).code]).toEqual([query, 'validation-failed']);
  });
});

describe('an installation without a price list', () => {
  it('the service starts, a send says what is missing, and an import lets it through', async () => {
    const clock = { at: Date.parse('2030-01-01T00:00:00Z'), now: () => clock.at };
    const service = new Service({
      ...readConfig({ DATABASE_URL: 'sqlite::memory:', ADMIN_TOKEN }),
      secretKey: Buffer.alloc(32, 1),
      clock,
      logger: new RecordingLogger(),
      watchesClock: false,
      seed: null,
    });
    await service.start();
    const url = `http://127.0.0.1:${await service.listen(0, '127.0.0.1')}`;
    const send = async (key: string) => {
      const { status, code, body } = await ask(
        url,
        'POST',
        '/sms',
        key,
        verification(NUMBER, { provider: 'sms' }),
      );
      return [status, code, body.cost];
    };
    try {
      expect(await send(DEMO_API_KEY)).toEqual([401, 'unauthorized', undefined]);
      await ask(url, 'POST', '/admin/projects', ADMIN_TOKEN, { name: 'S', slug: 's', environment: 'dev' });
      await ask(url, 'POST', '/admin/projects/s/top-ups', ADMIN_TOKEN, { amount: 1_000 });
      const { apiKey } = (await ask(url, 'POST', '/admin/projects/s/keys', ADMIN_TOKEN)).body as {
        apiKey: string;
      };
      expect(await send(apiKey)).toEqual([503, 'no-prices', undefined]);
      const prices = await ask(url, 'GET', '/admin/prices', ADMIN_TOKEN);
      expect(prices.body).toMatchObject({ version: null, sms: null, total: 0 });
      expect((await ask(url, 'GET', '/international-sms-pricing', apiKey)).body).toMatchObject({ total: 0 });
      const part = await ask(url, 'POST', '/admin/prices/previews', ADMIN_TOKEN, { telegram: 1 });
      expect([part.status, part.code]).toEqual([400, 'incomplete-prices']);
      const { preview } = (await ask(url, 'POST', '/admin/prices/previews', ADMIN_TOKEN, LIST)).body;
      const applied = await ask(url, 'POST', `/admin/prices/versions?preview=${preview}`, ADMIN_TOKEN, LIST);
      expect(applied).toMatchObject({ status: 200, body: { status: 'in-force', rows: 0 } });
      clock.at += FRESH_MS;
      expect(await send(apiKey)).toEqual([200, null, 82]);
    } finally {
      await service.stop();
    }
  });
});

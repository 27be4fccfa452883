import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, jsonOfAdmin, runAdmin } from '../support/admin.ts';
import { BARID_PROGRAM } from '../support/compiled-service.ts';
import { freePort } from '../support/private-server.ts';
import { runProgram } from '../support/program.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';

const start = (seed = seedWith({})) => startService({ adminToken: ADMIN_TOKEN, seed });

describe('barid admin', () => {
  it('barid admin leads from a new project to its first message, and to a revoked key', async () => {
    const service = await start();
    const create = ['projects', 'create', 'souq', '--name', 'Souq of Erbil', '--environment', 'dev'];
    const settings = [
      '--rate-limit',
      '20/60',
      '--address-rate-limit',
      'off',
      '--allowed-ips',
      '127.0.0.1,10.0.0.0/8',
    ];
    const created = await runAdmin(service, [
      ...[...create, ...settings],
      ...['--attempt-timeout-seconds', '20/200', '--weight', '3'],
    ]);
    expect(created.code).toBe(0);
    expect(created.text).toMatch(/^name +Souq of Erbil$/m);
    expect(created.text).toMatch(/^rateLimit\.maxRequests +20$/m);
    expect(created.text).toMatch(/^allowedIps +127\.0\.0\.1,10\.0\.0\.0\/8$/m);
    expect(created.text).toMatch(/^attemptTimeoutSeconds\.other +200$/m);
    expect(created.text).toMatch(/^weight +3$/m);
    const topUp = ['credit', 'top-up', 'souq', '500', '--reason', 'Invoice 1', '--idempotency-key', 'i-1'];
    expect(await jsonOfAdmin(service, ...topUp)).toMatchObject({ credit: 500 });
    expect(await jsonOfAdmin(service, ...topUp)).toMatchObject({ credit: 500 });
    expect(
      await jsonOfAdmin(service, 'credit', 'correct', 'souq', '--reason', 'A test', '--', '-20.5'),
    ).toMatchObject({ credit: 479.5 });
    const key = await jsonOfAdmin<{ id: string; apiKey: string }>(service, 'keys', 'create', 'souq');
    const body = verification(NUMBER, { provider: 'sms' });
    expect(await service.request('/sms', { apiKey: key.apiKey, body })).toMatchObject({ status: 200 });
    const list = await runAdmin(service, ['keys', 'list', 'souq']);
    expect(list.printed[0]).toMatch(
      /^id +prefix +lastFour +status +createdAt +endsAt +revokedAt +lastUsedAt$/,
    );
    expect(list.printed[1]).toMatch(new RegExp(`^${key.id} +sk_dev_ +${key.apiKey.slice(-4)} +active `));
    const rotated = await jsonOfAdmin<{ key: { apiKey: string } }>(
      service,
      ...['keys', 'rotate', 'souq', key.id, '--overlap-minutes', '5'],
    );
    expect((await runAdmin(service, ['keys', 'revoke', 'souq', key.id])).text).toMatch(/^status +revoked$/m);
    await service.advance(2_000);
    expect(await service.request('/info', { apiKey: key.apiKey })).toMatchObject({ status: 401 });
    expect(await service.request('/info', { apiKey: rotated.key.apiKey })).toMatchObject({ status: 200 });
    expect(await jsonOfAdmin(service, 'projects', 'set', 'souq', '--rate-limit', 'off')).toMatchObject({
      rateLimit: 'off',
      addressRateLimit: 'off',
      language: 'ar',
    });
    expect(await jsonOfAdmin(service, 'credit', 'reset-threshold', 'souq')).toMatchObject({ spent: 0 });
    expect((await runAdmin(service, ['projects', 'archive', 'souq'])).text).toMatch(
      /^archivedAt +2030-01-01T/m,
    );
    const { records } = await jsonOfAdmin<{ records: { action: string; actor: string }[] }>(
      service,
      ...['audit', '--project', 'souq'],
    );
    expect(records.map(({ action }) => action)).toEqual([
      'project-archived',
      'threshold-reset',
      'project-changed',
      'key-revoked',
      'key-rotated',
      'key-created',
      'credit-corrected',
      'credit-added',
      'project-created',
    ]);
    expect(new Set(records.map(({ actor }) => actor))).toEqual(new Set(['cli']));
  });

  it('barid admin prints lists as tables, says how a list goes on, and prints a statement as csv', async () => {
    const service = await start(seedWith({ credit: 1_000 }));
    await service.advance(1_000);
    await runAdmin(service, ['credit', 'top-up', 'demo', '0.5']);
    const first = await runAdmin(service, ['statement', 'demo', '--limit', '1']);
    expect(first.printed.map((line) => line.split(/ {2,}/).toSpliced(2, 1))).toEqual([
      ['at', 'kind', 'amount', 'balance'],
      ['2030-01-01T00:00:01.000Z', 'deposit', '0.5', '1000.5'],
    ]);
    const [, cursor = ''] = /^there is more: --cursor (\S+)$/.exec(first.errors[0] ?? '') ?? [];
    const second = await runAdmin(service, ['statement', 'demo', '--cursor', cursor]);
    expect([second.printed.length, second.errors]).toEqual([2, []]);
    const csv = await runAdmin(service, ['statement', 'demo', '--csv']);
    expect(csv.text).toMatch(/^at,kind,reference,credited,charged,balance\r\n/);
    expect((await runAdmin(service, ['projects', 'list'])).printed[1]).toMatch(
      / demo +Demo +dev +1000.5 +0 +-$/,
    );
    const { printed } = await runAdmin(service, ['audit']);
    expect(printed[1]).toMatch(/^2030-01-01T00:00:01.000Z {2}cli +credit-added +[0-9a-f]{24}$/);
    expect(printed).toContain('  balance: 1000 -> 1000.5');
  });

  it('barid admin prints what an error says beside its text', async () => {
    const service = await start(seedWith({ credit: 1_000 }));
    const words = ['credit', 'correct', 'demo', '--reason', 'A test', '--', '-1000.5'];
    const { code, printed, errors } = await runAdmin(service, words);
    expect([code, printed]).toEqual([1, []]);
    expect(errors.join('\n').split('\n')).toEqual([
      'The correction would leave less than is held (balance-below-holds)',
      'balance  1000',
      'held     0',
    ]);
  });

  it('barid admin makes, lists, changes, rotates and removes an inbound webhook', async () => {
    const service = await start();
    const given = ['demo', '664def456abc789012345678'];
    const commands = (name: string, ...more: readonly string[]) => [
      'inbound-webhooks',
      name,
      ...given,
      ...more,
    ];
    const made = await jsonOfAdmin<{ secret: string }>(
      service,
      ...commands('create', 'https://shop.example/in'),
    );
    const set = await jsonOfAdmin(service, ...commands('set', 'https://shop.example/other'));
    expect(set).toMatchObject({ url: 'https://shop.example/other', overlapEndsAt: null });
    const rotated = await jsonOfAdmin<{ secret: string }>(
      service,
      ...commands('rotate-secret', '--overlap-minutes', '5'),
    );
    expect(rotated.secret).not.toBe(made.secret);
    const list = await runAdmin(service, ['inbound-webhooks', 'list', 'demo']);
    expect(list.printed[1]).toMatch(
      /^664def456abc789012345678 +https:\/\/shop\.example\/other +2030-01-01T00:05:/,
    );
    expect(await runAdmin(service, commands('remove'))).toMatchObject({ code: 0 });
    expect((await runAdmin(service, commands('remove'))).errors).toEqual([
      'Inbound webhook not found (inbound-webhook-not-found)',
    ]);
  });

  it.each(['', '.', '..'])(
    'barid admin takes no id that an address reads as none or a way up: %j',
    async (id) => {
      const service = await start();
      for (const words of [
        ['projects', 'show', id],
        ['webhooks', 'show', id],
        ['prices', 'show-version', id],
      ]) {
        expect(await runAdmin(service, words)).toMatchObject({ code: 2, errors: [`"${id}" is no id`] });
      }
    },
  );

  it('barid admin prints the whatsapp resources of a project, and sets those of a file', async () => {
    const service = await start();
    const folder = mkdtempSync(join(tmpdir(), 'barid-admin-'));
    const file = join(folder, 'tree.json');
    const { text } = await runAdmin(service, ['whatsapp', 'show', 'demo']);
    writeFileSync(file, text.replaceAll('"name": "order_update"', '"name": "order_sent"'));
    expect((await runAdmin(service, ['whatsapp', 'set', 'demo', file])).text).toMatch(/^templateCount +2$/m);
    expect((await runAdmin(service, ['whatsapp', 'show', 'demo'])).text).toContain('order_sent');
    expect((await runAdmin(service, ['audit'])).printed[1]).toMatch(/ cli +whatsapp-resources-changed /);
    const hidden = text.replaceAll('"name": "order_update"', '"name": "\u202eorder\u009b"');
    writeFileSync(file, hidden);
    await runAdmin(service, ['whatsapp', 'set', 'demo', file]);
    const shown = (await runAdmin(service, ['whatsapp', 'show', 'demo'])).text;
    expect(shown).toContain('"name": "\\u202eorder\\u009b"');
    expect(JSON.parse(shown)).toEqual(JSON.parse(hidden));
    writeFileSync(file, '{ "businesses": [ }');
    expect(await runAdmin(service, ['whatsapp', 'set', 'demo', file])).toMatchObject({
      code: 2,
      errors: [`${file} is not JSON: line 1, column 19`],
    });
    const levels = 20_000;
    writeFileSync(file, '['.repeat(levels) + ']'.repeat(levels));
    expect(await runAdmin(service, ['whatsapp', 'set', 'demo', file])).toMatchObject({
      code: 1,
      errors: ['The request body is nested too deep (nested-too-deep)'],
    });
    rmSync(folder, { recursive: true });
    expect(await runAdmin(service, ['whatsapp', 'set', 'demo', file])).toMatchObject({ code: 2 });
  });

  it('barid admin sets the notice of low credit with a secret from a file, and ends it', async () => {
    const service = await start();
    const folder = mkdtempSync(join(tmpdir(), 'barid-low-credit-'));
    try {
      const file = join(folder, 'secret');
      writeFileSync(file, 'customer-secret-1\n');
      const set = ['projects', 'set', 'demo'];
      const told = ['--low-credit', '5000.5,https://shop.example/credit?shop=1,2'];
      expect(await jsonOfAdmin(service, ...set, ...told, '--low-credit-secret-file', file)).toMatchObject({
        lowCredit: { amount: 5_000.5, webhookUrl: 'https://shop.example/credit?shop=1,2', isSigned: true },
      });
      const alone = await runAdmin(service, [...set, '--low-credit-secret-file', file]);
      expect([alone.code, alone.errors]).toEqual([
        2,
        ['--low-credit-secret-file needs --low-credit with an amount and a url.'],
      ]);
      for (const wrong of ['5000', 'much,https://shop.example/', ',https://shop.example/']) {
        expect((await runAdmin(service, [...set, '--low-credit', wrong])).code).toBe(2);
      }
      const missing = [...set, ...told, '--low-credit-secret-file', join(folder, 'none')];
      expect((await runAdmin(service, missing)).code).toBe(2);
      expect(await jsonOfAdmin(service, ...set, '--low-credit', 'off')).toMatchObject({ lowCredit: 'off' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('barid admin ends with 1 and one line when the service rejects the request', async () => {
    const service = await start();
    expect(await runAdmin(service, ['projects', 'show', 'nobody'])).toMatchObject({
      code: 1,
      printed: [],
      errors: ['Project not found (project-not-found)'],
    });
    expect(await runAdmin(service, ['projects', 'list'], { ADMIN_TOKEN: 'wrong' })).toMatchObject({
      code: 1,
      errors: ['Unauthorized, please use the operator token (unauthorized)'],
    });
    const without = await startService();
    const { code, errors } = await runAdmin(without, ['projects', 'list']);
    expect([code, errors[0]]).toEqual([1, expect.stringContaining('has no admin interface')]);
  });

  it.each([
    [[]],
    [['projects']],
    [['projects', 'destroy', 'demo']],
    [['projects', 'show']],
    [['credit', 'top-up', 'demo', 'much']],
    [['credit', 'correct', 'demo', '5']],
    [['projects', 'set', 'demo', '--rate-limit', '5']],
    [['audit', 'demo']],
  ])('barid admin ends with 2 when its words are wrong: %j', async (given) => {
    const { code, printed, errors } = await runAdmin('http://127.0.0.1:1', given);
    expect([code, printed]).toEqual([2, []]);
    expect(errors.length).toBeGreaterThan(0);
  });

  it('barid admin ends with 2 without a token, and takes it from a file', async () => {
    const service = await start();
    expect(await runAdmin(service, ['projects', 'list'], {})).toMatchObject({
      code: 2,
      errors: [
        'set ADMIN_TOKEN, or ADMIN_TOKEN_FILE, to the token of the service; a service that was started without one has no admin interface',
      ],
    });
    const folder = mkdtempSync(join(tmpdir(), 'barid-admin-'));
    const file = join(folder, 'token');
    writeFileSync(file, `${ADMIN_TOKEN}\n`);
    expect(await runAdmin(service, ['projects', 'list'], { ADMIN_TOKEN_FILE: file })).toMatchObject({
      code: 0,
    });
    rmSync(folder, { recursive: true });
    expect(await runAdmin(service, ['projects', 'list'], { ADMIN_TOKEN_FILE: file })).toMatchObject({
      code: 2,
    });
  });

  it('barid admin ends with 69 when nothing replies or the service is too busy', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const away = await runAdmin(nowhere, ['projects', 'list']);
    expect([away.code, away.errors]).toEqual([
      69,
      [
        `${nowhere} cannot be reached: ECONNREFUSED; start the service, or name its address with --url or BARID_URL`,
      ],
    ]);
    const busy = createServer((_, response) => {
      response.writeHead(503, { 'x-error-code': 'overloaded' }).end('{"message":"Too many"}');
    }).listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as AddressInfo;
    const shed = await runAdmin(`http://127.0.0.1:${port}`, ['projects', 'list']);
    expect([shed.code, shed.errors]).toEqual([69, ['Too many (overloaded)']]);
    busy.close();
  });

  it('barid admin explains itself, and runs as a program', async () => {
    const help = await runAdmin('http://127.0.0.1:1', ['--help']);
    expect(help.code).toBe(0);
    for (const name of ['projects', 'keys', 'credit', 'statement', 'audit'])
      expect(help.text).toContain(name);
    const service = await start();
    const program = [BARID_PROGRAM, 'admin', '--url', await service.url];
    const environment = { ...process.env, ADMIN_TOKEN };
    const [shown, wrong] = await Promise.all([
      runProgram([...program, 'projects', 'show', 'demo'], environment),
      runProgram([...program, 'projects', 'show', 'nobody'], environment),
    ]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/^slug +demo$/m);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
  });
});

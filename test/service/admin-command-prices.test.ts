import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN, runAdmin } from '../support/admin.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const HEADER = 'continent,countryIso,countryCode,country,networkId,network,mccMnc,price';
const TURKEY = 'Asia,TR,90,Turkey,tr_all,All networks,28601,130.125';
const JORDAN = 'Asia,JO,962,Jordan,jo_zain,"Zain, Jordan",41601,55';
const SMS = { korekTelecom: 81, asiaCell: 82.5, zainIraq: 83, others: 101 };

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'barid-prices-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const csvOf = (...rows: readonly string[]) => [HEADER, ...rows, ''].join('\n');
const start = () => startService({ adminToken: ADMIN_TOKEN, seed: seedWith({ rateLimit: null }) });

const run = (service: Harness, ...given: readonly string[]) => runAdmin(service, ['prices', ...given]);

async function previewOf(service: Harness, ...given: readonly string[]): Promise<string> {
  const { code, printed, errors } = await run(service, 'preview', ...given, '--json');
  expect([code, errors]).toEqual([0, []]);
  return (JSON.parse(printed[0] ?? '') as { preview: string }).preview;
}

async function imported(service: Harness, ...given: readonly string[]): Promise<string> {
  const preview = await previewOf(service, ...given);
  const { code, printed, errors } = await run(service, 'import', ...given, '--preview', preview, '--json');
  expect([code, errors]).toEqual([0, []]);
  return (JSON.parse(printed[0] ?? '') as { id: string }).id;
}

async function costOf(service: Harness): Promise<unknown> {
  const { body } = await service.request('/sms', { body: verification(NUMBER, { provider: 'sms' }) });
  return (body as { cost: number }).cost;
}

it('barid admin prices previews a list as tables, and imports it with the preview only', async () => {
  const service = await start();
  const rows = fileOf('rows.csv', csvOf(TURKEY, JORDAN));
  await imported(service, rows);
  const content = { sms: SMS, international: [] };
  const list = fileOf('list.JSON', JSON.stringify(content));
  const preview = await run(service, 'preview', list);
  expect(preview.text).toMatch(/^removed +2$/m);
  expect(preview.text).toMatch(/^price +before +after$/m);
  expect(preview.text).toMatch(/^sms\.asiaCell +80 +82\.5$/m);
  expect(preview.text).toMatch(/^change +countryIso +networkId +mccMnc +before +after$/m);
  expect(preview.text).toMatch(/^removed +TR +tr_all +28601 +130\.125 +-$/m);
  expect(await costOf(service)).toBe(80);
  const [, name = ''] = /^preview +([0-9a-f]+)$/m.exec(preview.text) ?? [];
  const wrong = await run(service, 'import', rows, '--preview', name);
  expect([wrong.code, wrong.errors[0]]).toEqual([1, expect.stringContaining('(preview-outdated)')]);
  const done = await run(service, 'import', list, '--preview', name);
  expect(done.text).toMatch(/^status +in-force$/m);
  await service.advance(2_000);
  expect(await costOf(service)).toBe(82.5);
});

it('barid admin prices shows the list and its versions, and withdraws one before it is in force', async () => {
  const service = await start();
  const first = await imported(service, fileOf('a.csv', csvOf(TURKEY, JORDAN)));
  const file = fileOf('b.csv', csvOf(TURKEY));
  const second = await imported(service, file, '--effective-from', '2030-02-01T00:00:00Z');
  const shown = await run(service, 'show', '--country-iso', 'jo');
  expect(shown.text).toMatch(new RegExp(`^version\\.id +${first}$`, 'm'));
  expect(shown.text).toMatch(/^sms\.korekTelecom +80$/m);
  expect(shown.printed.at(-2)).toMatch(
    /^countryIso +country +countryCode +networkId +network +mccMnc +price$/,
  );
  expect(shown.printed.at(-1)).toMatch(/^JO +Jordan +962 +jo_zain +Zain, Jordan +41601 +55$/);
  const page = await run(service, 'show', '--limit', '1');
  const [, cursor = ''] = /^there is more: --cursor (\S+)$/.exec(page.errors[0] ?? '') ?? [];
  const rest = await run(service, 'show', '--limit', '1', '--cursor', cursor);
  expect(rest.printed.at(-1)).toMatch(/^TR /);
  const versions = await run(service, 'versions');
  expect(versions.printed[1]).toMatch(
    new RegExp(`^${second} +scheduled +2030-02-01T00:00:00\\.000Z .* cli +1 +-$`),
  );
  expect(versions.printed[2]).toMatch(new RegExp(`^${first} +in-force `));
  expect((await run(service, 'show-version', second)).text).toMatch(/^version\.rows +1$/m);
  expect((await run(service, 'withdraw', second)).text).toMatch(/^status +withdrawn$/m);
  const again = await run(service, 'withdraw', first);
  expect([again.code, again.errors[0]]).toEqual([1, expect.stringContaining('(prices-in-force)')]);
});

it('barid admin prices has a line for each mistake of a file', async () => {
  const service = await start();
  const file = fileOf('bad.csv', csvOf(TURKEY.replace('130.125', 'much'), JORDAN.replace('962', '')));
  const { code, printed, errors } = await run(service, 'preview', file);
  expect([code, printed]).toEqual([1, []]);
  expect(errors[0]).toContain('(invalid-prices)');
  expect(errors.slice(1)).toEqual([
    expect.stringMatching(/^line 2, price: /),
    expect.stringMatching(/^line 3, countryCode: /),
  ]);
});

it('barid admin prices ends with 2 for a file of another kind, an absent file, and an import without a preview', async () => {
  const service = await start();
  const file = fileOf('rows.csv', csvOf(TURKEY));
  for (const [given, error] of [
    [['preview', fileOf('rows.txt', '')], 'the name of a file of prices ends with .csv or .json'],
    [['preview', join(folder, 'absent.csv')], 'cannot be read: '],
    [['import', file], '--preview'],
    [['show-version'], 'version'],
  ] as const) {
    const { code, printed, errors } = await run(service, ...given);
    expect([code, printed, errors[0]]).toEqual([2, [], expect.stringContaining(error)]);
  }
});

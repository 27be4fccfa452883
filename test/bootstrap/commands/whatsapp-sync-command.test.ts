import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { barid } from '../../support/barid.ts';
import { aProject, NOW, PROJECT_ID } from '../../support/builders.ts';
import { aLinkedBusiness } from '../../support/cloud-api-world.ts';
import { BARID_PROGRAM } from '../../support/compiled-service.ts';
import { channelsOf, META_SECRETS, MetaAccount } from '../../support/meta-account.ts';
import { runProgram } from '../../support/program.ts';

let folder: string;
let meta: MetaAccount;
let environment: Record<string, string>;

/** A database with one live project and its account, and a channels file with Meta. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'whatsapp-sync-command-'));
  meta = await MetaAccount.open();
  writeFileSync(join(folder, 'channels.json'), JSON.stringify(channelsOf({ meta })));
  environment = {
    DATABASE_URL: `sqlite:${join(folder, 'barid.db')}`,
    CHANNELS_FILE: join(folder, 'channels.json'),
    LOG_LEVEL: 'error',
    ...META_SECRETS,
  };
  const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'barid.db') });
  await database.migrate();
  await new SqlUnitOfWork(database).run(async ({ projects, whatsapp }) => {
    await projects.insert([aProject({ environment: 'live' })]);
    await whatsapp.replace(PROJECT_ID, [aLinkedBusiness()]);
  });
  await database.close();
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function run(...given: readonly string[]) {
  const { code, printed, errors } = await barid(['whatsapp', ...given], {
    environment,
    clock: { now: () => NOW },
  });
  return { code, printed, errors };
}

async function qualityRatings(): Promise<readonly string[]> {
  const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'barid.db') });
  const trees = await new SqlUnitOfWork(database).read(({ whatsapp }) => whatsapp.byProjectIds([PROJECT_ID]));
  await database.close();
  const accounts = (trees.get(PROJECT_ID) ?? []).flatMap(({ whatsappAccounts }) => whatsappAccounts);
  return accounts.flatMap(({ phoneNumbers }) => phoneNumbers.map(({ qualityRating }) => qualityRating));
}

it('whatsapp sync stores what Meta says, and prints how much changed', async () => {
  meta.quality = 'YELLOW';
  expect(await run('sync')).toEqual({
    code: 0,
    printed: ['sync: 1 account, 0 failed, 1 resource tree changed'],
    errors: [],
  });
  expect(await qualityRatings()).toEqual(['YELLOW']);
  expect(await run('sync')).toEqual({
    code: 0,
    printed: ['sync: 1 account, 0 failed, 0 resource trees changed'],
    errors: [],
  });
});

it('whatsapp sync ends with 1 when an account failed, and changes nothing of it', async () => {
  meta.quality = 'YELLOW';
  meta.fails = ({ query }) => query.get('after') === 'second';
  expect(await run('sync')).toEqual({
    code: 1,
    printed: ['sync: 1 account, 1 failed, 0 resource trees changed'],
    errors: [],
  });
  expect(await qualityRatings()).toEqual(['GREEN']);
});

it('whatsapp sync says that no provider can read accounts, and ends with 1', async () => {
  environment = { ...environment, CHANNELS_FILE: '', WHATSAPP_PROVIDER: 'simulator' };
  expect(await run('sync')).toEqual({
    code: 1,
    printed: [],
    errors: ['sync: no provider can read whatsapp accounts; those of the kind cloud-api can'],
  });
});

test.each([[[]], [['log']], [['sync', 'more']]])('whatsapp prints its usage when given %j', async (given) => {
  const { code, printed, errors } = await run(...given);
  expect([code, printed]).toEqual([2, []]);
  expect(errors.join()).toMatch(/barid whatsapp|--help/);
  expect(meta.peer.requests).toEqual([]);
});

it('whatsapp sync ends with 78 when the channels file cannot be used', async () => {
  writeFileSync(join(folder, 'channels.json'), '{');
  const { code, errors } = await run('sync');
  expect(code).toBe(78);
  expect(errors[0]).toContain('CHANNELS_FILE');
});

it('whatsapp sync runs as a process, and logs why an account failed', async () => {
  meta.fails = () => true;
  const ended = await runProgram([BARID_PROGRAM, 'whatsapp', 'sync'], {
    ...process.env,
    ...environment,
    LOG_LEVEL: 'warn',
  });
  expect([ended.code, ended.stdout]).toEqual([1, 'sync: 1 account, 1 failed, 0 resource trees changed\n']);
  expect(JSON.parse(ended.stderr)).toMatchObject({
    event: 'whatsapp_sync_failed',
    reason: expect.stringContaining('131016'),
  });
});

it('whatsapp sync prints its counts as JSON with --json', async () => {
  meta.quality = 'YELLOW';
  expect((await run('sync', '--json')).printed).toEqual(['{"accounts":1,"failed":0,"changed":1}']);
});

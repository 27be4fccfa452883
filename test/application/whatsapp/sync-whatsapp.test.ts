import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { RandomIdSource } from '../../../src/adapters/node/random-id-source.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { StorageAway, StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import type { PlatformAccountResult } from '../../../src/application/ports/whatsapp-platform.ts';
import { SyncWhatsapp } from '../../../src/application/whatsapp/sync-whatsapp.ts';
import type { Environment } from '../../../src/domain/access/project.ts';
import type { PlatformAccount } from '../../../src/domain/whatsapp/merge-account.ts';
import {
  anId,
  aPlatformAccount,
  aPlatformPhoneNumber,
  aProject,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
  NOW,
} from '../../support/builders.ts';
import { IDLE_EVENT_LOOP } from '../../support/idle-event-loop.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const A = anId(1);
const B = anId(2);
const HEX_24 = /^[0-9a-f]{24}$/;

/** An account with one number, `1`, and one template, `order_update`. */
const platformAccount = (given: Partial<PlatformAccount> = {}): PlatformAccount =>
  aPlatformAccount({
    phoneNumbers: [
      aPlatformPhoneNumber({ phoneNumberId: '1', qualityRating: 'YELLOW', messagingLimit: 'TIER_10K' }),
    ],
    ...given,
  });

let database: Database;
let unitOfWork: SqlUnitOfWork;
let asked: string[];
let results: Map<string, PlatformAccountResult>;
let logger: RecordingLogger;

beforeEach(async () => {
  database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
  await database.migrate();
  unitOfWork = new SqlUnitOfWork(database);
  asked = [];
  results = new Map();
  logger = new RecordingLogger();
});
afterEach(() => database.close());

const sync = () =>
  new SyncWhatsapp({
    unitOfWork,
    platform: {
      async accountOf(id) {
        asked.push(id);
        return results.get(id) ?? { kind: 'unavailable', reason: 'There is no such account' };
      },
    },
    clock: { now: () => NOW },
    ids: new RandomIdSource(),
    logger,
    eventLoop: IDLE_EVENT_LOOP,
  });

/** A project with one account of these ids, each with the number `1` and a template. */
async function link(
  projectId: string,
  whatsappBusinessIds: readonly string[],
  environment: Environment = 'live',
): Promise<void> {
  const business = aWhatsappBusiness({
    whatsappAccounts: whatsappBusinessIds.map((whatsappBusinessId) =>
      aWhatsappAccount({
        id: `account-${whatsappBusinessId}`,
        whatsappBusinessId,
        phoneNumbers: [aWhatsappPhoneNumber({ phoneNumberId: '1' })],
      }),
    ),
  });
  await unitOfWork.run(async ({ projects, whatsapp }) => {
    await projects.insert([aProject({ id: projectId, slug: projectId, environment })]);
    await whatsapp.replace(projectId, [business]);
  });
}

const accountOf = async (projectId: string, whatsappBusinessId: string) => {
  const trees = await unitOfWork.read(({ whatsapp }) => whatsapp.byProjectIds([projectId]));
  return trees
    .get(projectId)
    ?.flatMap(({ whatsappAccounts }) => whatsappAccounts)
    .find((account) => account.whatsappBusinessId === whatsappBusinessId);
};

it('a synchronisation brings what the platform says into the tree, keeps our ids and gives new rows new ones', async () => {
  await link(A, ['waba-1']);
  const [number] = platformAccount().phoneNumbers;
  if (number === undefined) throw new Error('There is no number');
  const phoneNumbers = [number, { ...number, phoneNumberId: '2' }];
  results.set('waba-1', { kind: 'account', account: platformAccount({ phoneNumbers, templates: [] }) });
  expect(await sync().execute()).toEqual({ accounts: 1, failed: 0, changed: 1 });
  const account = await accountOf(A, 'waba-1');
  expect(account?.phoneNumbers).toMatchObject([
    {
      id: aWhatsappPhoneNumber().id,
      phoneNumberId: '1',
      qualityRating: 'YELLOW',
      messagingLimit: 'TIER_10K',
    },
    { id: expect.stringMatching(HEX_24), phoneNumberId: '2', createdAt: '2026-01-15T12:00:00.000Z' },
  ]);
  expect(account?.templates).toEqual([aWhatsappTemplate({ status: 'DELETED' })]);
});

it('a second synchronisation changes nothing, and gives no row another id', async () => {
  await link(A, ['waba-1']);
  results.set('waba-1', { kind: 'account', account: platformAccount() });
  await sync().execute();
  const before = await accountOf(A, 'waba-1');
  expect(await sync().execute()).toEqual({ accounts: 1, failed: 0, changed: 0 });
  expect(await accountOf(A, 'waba-1')).toEqual(before);
});

it('an account that cannot be read whole stays as it was, is logged, and does not keep others from changing', async () => {
  await link(A, ['waba-1', 'waba-2']);
  const before = await accountOf(A, 'waba-1');
  results.set('waba-2', { kind: 'account', account: platformAccount() });
  expect(await sync().execute()).toEqual({ accounts: 2, failed: 1, changed: 1 });
  expect(await accountOf(A, 'waba-1')).toEqual(before);
  expect((await accountOf(A, 'waba-2'))?.phoneNumbers).toMatchObject([{ qualityRating: 'YELLOW' }]);
  expect(logger.entries).toEqual([
    {
      level: 'warn',
      event: 'whatsapp_sync_failed',
      fields: { account: 'waba-1', reason: 'There is no such account' },
    },
  ]);
});

it('an account that two projects have is read once, and changes both trees', async () => {
  await link(A, ['waba-1']);
  await link(B, ['waba-1']);
  results.set('waba-1', { kind: 'account', account: platformAccount() });
  expect(await sync().execute()).toEqual({ accounts: 1, failed: 0, changed: 2 });
  expect(asked).toEqual(['waba-1']);
  expect((await accountOf(B, 'waba-1'))?.phoneNumbers).toMatchObject([{ qualityRating: 'YELLOW' }]);
});

it('a new number or template of an account that two projects have is given to neither', async () => {
  await link(A, ['waba-1']);
  await link(B, ['waba-1']);
  const [number] = platformAccount().phoneNumbers;
  const [template] = platformAccount().templates;
  if (number === undefined || template === undefined) throw new Error('The account is empty');
  const account = platformAccount({
    phoneNumbers: [number, { ...number, phoneNumberId: '2' }],
    templates: [template, { ...template, name: 'of_somebody' }],
  });
  results.set('waba-1', { kind: 'account', account });
  await sync().execute();
  for (const projectId of [A, B]) {
    const stored = await accountOf(projectId, 'waba-1');
    expect(stored?.phoneNumbers.map(({ phoneNumberId }) => phoneNumberId)).toEqual(['1']);
    expect(stored?.phoneNumbers[0]?.qualityRating).toBe('YELLOW');
    expect(stored?.templates.map(({ name }) => name)).toEqual(['order_update']);
  }
});

it('a synchronisation leaves the made-up accounts of dev projects alone', async () => {
  await link(A, ['waba-1'], 'dev');
  expect(await sync().execute()).toEqual({ accounts: 0, failed: 0, changed: 0 });
  expect(asked).toEqual([]);
});

it('a synchronisation finds the accounts of every page of projects', async () => {
  const count = 101;
  for (let at = 1; at <= count; at += 1) await link(anId(at), [`waba-${at}`]);
  expect(await sync().execute()).toEqual({ accounts: count, failed: count, changed: 0 });
});

it.each([
  new StorageLocked(new Error('lock timeout')),
  new StorageUnavailable(new Error('statement timeout')),
  new StorageAway(new Error('the connection was ended')),
])(
  'an account that cannot be stored is logged, and does not keep others from changing: %s',
  async (failure) => {
    await link(A, ['waba-1']);
    await link(B, ['waba-2']);
    results.set('waba-1', { kind: 'account', account: platformAccount() });
    results.set('waba-2', { kind: 'account', account: platformAccount() });
    const run = unitOfWork.run.bind(unitOfWork);
    unitOfWork.run = (work) => {
      unitOfWork.run = run;
      return run(async (stores) => {
        await work(stores);
        throw failure;
      });
    };
    expect(await sync().execute()).toEqual({ accounts: 2, failed: 1, changed: 1 });
    expect((await accountOf(A, 'waba-1'))?.phoneNumbers).toMatchObject([{ qualityRating: 'GREEN' }]);
    expect((await accountOf(B, 'waba-2'))?.phoneNumbers).toMatchObject([{ qualityRating: 'YELLOW' }]);
    expect(logger.entries).toMatchObject([
      { fields: { account: 'waba-1', reason: (failure.cause as Error).message } },
    ]);
  },
);

it('an account that cannot be stored for one project is stored for the others that have it, and counts as failed once', async () => {
  await link(A, ['waba-1']);
  await link(B, ['waba-1']);
  results.set('waba-1', { kind: 'account', account: platformAccount() });
  const run = unitOfWork.run.bind(unitOfWork);
  unitOfWork.run = () => {
    unitOfWork.run = run;
    return Promise.reject(new Error('too long'));
  };
  expect(await sync().execute()).toEqual({ accounts: 1, failed: 1, changed: 1 });
  expect((await accountOf(B, 'waba-1'))?.phoneNumbers).toMatchObject([{ qualityRating: 'YELLOW' }]);
});

it('a synchronisation rejects while the storage is away, and asks for no further account', async () => {
  await link(A, ['waba-1', 'waba-2']);
  results.set('waba-1', { kind: 'account', account: platformAccount() });
  unitOfWork.run = () => Promise.reject(new StorageAway(new Error('gone')));
  await expect(sync().execute()).rejects.toBeInstanceOf(StorageAway);
  expect(asked).toEqual(['waba-1']);
});

it('a synchronisation that is aborted asks for no further account', async () => {
  await link(A, ['waba-1', 'waba-2']);
  const aborted = new AbortController();
  results.set('waba-1', { kind: 'account', account: platformAccount() });
  const run = unitOfWork.run.bind(unitOfWork);
  unitOfWork.run = (work) => {
    aborted.abort();
    return run(work);
  };
  expect(await sync().execute(aborted.signal)).toEqual({ accounts: 2, failed: 0, changed: 1 });
  expect(asked).toEqual(['waba-1']);
});

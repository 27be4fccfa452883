import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { WHATSAPP_DIRECTORY_FRESH_MS } from '../../../src/application/ports/whatsapp-directory.ts';
import { StoredWhatsappDirectory } from '../../../src/application/whatsapp/stored-whatsapp-directory.ts';
import type { WhatsappBusiness } from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import {
  anId,
  aProject,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  NOW,
} from '../../support/builders.ts';

/** A database whose reads are counted, and fail while it is away. */
class CountedReads implements UnitOfWork {
  reads = 0;
  isAway = false;
  readonly run: UnitOfWork['run'];
  readonly ping: UnitOfWork['ping'];
  readonly #inner: UnitOfWork;

  constructor(inner: UnitOfWork) {
    this.#inner = inner;
    this.run = (...given) => inner.run(...given);
    this.ping = () => inner.ping();
  }

  read<T>(work: Parameters<UnitOfWork['read']>[0]): Promise<T> {
    this.reads += 1;
    if (this.isAway) return Promise.reject(new Error('The database is away'));
    return this.#inner.read(work) as Promise<T>;
  }
}

const A = anId(1);
const B = anId(2);
const C = anId(3);
/** A dev project; it comes before the others. */
const DEV = anId(0);
const clock = { at: NOW, now: () => clock.at };
let database: Database;
let unitOfWork: CountedReads;
let directory: StoredWhatsappDirectory;

beforeEach(async () => {
  clock.at = NOW;
  database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
  await database.migrate();
  unitOfWork = new CountedReads(new SqlUnitOfWork(database));
  directory = new StoredWhatsappDirectory({ unitOfWork, clock });
});
afterEach(() => database.close());

const tree = (id: string, phoneNumberId: string): readonly WhatsappBusiness[] => [
  aWhatsappBusiness({
    whatsappAccounts: [aWhatsappAccount({ phoneNumbers: [aWhatsappPhoneNumber({ id, phoneNumberId })] })],
  }),
];

async function store(...trees: readonly (readonly [string, readonly WhatsappBusiness[]])[]): Promise<void> {
  await unitOfWork.run(async ({ projects, whatsapp }) => {
    const known = new Set((await projects.byIds(trees.map(([id]) => id))).map(({ id }) => id));
    const missing = trees.filter(([id]) => !known.has(id));
    await projects.insert(
      missing.map(([id]) => aProject({ id, slug: id, environment: id === DEV ? 'dev' : 'live' })),
    );
    for (const [id, businesses] of trees) await whatsapp.replace(id, businesses);
  });
}

it('the directory gives the trees of the projects that have one, with one read for all of them', async () => {
  await store([A, tree('one', '1')], [B, tree('two', '2')]);
  expect([...(await directory.resourcesOf([B, A, C, A]))]).toEqual([
    [B, tree('two', '2')],
    [A, tree('one', '1')],
  ]);
  expect(unitOfWork.reads).toBe(1);
  expect([...(await directory.resourcesOf([]))]).toEqual([]);
});

it('the directory reads a tree again once it is not fresh any more, and only then', async () => {
  await store([A, tree('one', '1')]);
  await directory.resourcesOf([A, C]);
  await store([A, tree('one', '9')]);
  clock.at += WHATSAPP_DIRECTORY_FRESH_MS - 1;
  expect((await directory.resourcesOf([A, C])).get(A)).toEqual(tree('one', '1'));
  expect(unitOfWork.reads).toBe(1);
  clock.at += 1;
  expect((await directory.resourcesOf([A, C])).get(A)).toEqual(tree('one', '9'));
  expect(unitOfWork.reads).toBe(2);
});

it('the directory reads only the trees that it does not have, and shares a read among callers', async () => {
  await store([A, tree('one', '1')], [B, tree('two', '2')]);
  await directory.resourcesOf([A]);
  const [first, second] = await Promise.all([directory.resourcesOf([A, B]), directory.resourcesOf([B])]);
  expect([...first.keys()]).toEqual([A, B]);
  expect([...second.keys()]).toEqual([B]);
  expect(unitOfWork.reads).toBe(2);
});

it('the directory rejects while the database is away, and keeps no failure', async () => {
  await store([A, tree('one', '1')]);
  unitOfWork.isAway = true;
  await expect(directory.resourcesOf([A, B])).rejects.toThrow('The database is away');
  await expect(directory.phoneIdsOf(['1'])).rejects.toThrow('The database is away');
  unitOfWork.isAway = false;
  expect([...(await directory.resourcesOf([A])).keys()]).toEqual([A]);
  expect([...(await directory.phoneIdsOf(['1']))]).toEqual([['1', 'one']]);
});

it('the directory finds our ids of numbers by those of the platform with one read, and the new ones at once', async () => {
  await store([A, tree('one', '1')], [DEV, tree('made-up', '3')]);
  expect([...(await directory.phoneIdsOf(['1', '2', '3']))]).toEqual([['1', 'one']]);
  expect(unitOfWork.reads).toBe(1);
  await store([B, tree('two', '2')]);
  expect((await directory.phoneIdsOf(['2'])).get('2')).toBe('two');
  expect(await directory.phoneIdsOf([])).toEqual(new Map());
  expect(unitOfWork.reads).toBe(2);
});

it('the directory finds the numbers of all callbacks that come together with one read', async () => {
  await store([A, tree('one', '1')], [B, tree('two', '2')]);
  const found = await Promise.all([...Array(200)].map((_, n) => directory.phoneIdsOf([String((n % 3) + 1)])));
  expect(found.slice(0, 3).map((each) => [...each])).toEqual([[['1', 'one']], [['2', 'two']], []]);
  expect(unitOfWork.reads).toBe(1);
});

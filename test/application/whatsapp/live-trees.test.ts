import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { liveTrees, TREES_PER_PAGE } from '../../../src/application/whatsapp/live-trees.ts';
import { anId, aProject, aWhatsappBusiness } from '../../support/builders.ts';

let database: Database;
let unitOfWork: SqlUnitOfWork;

beforeEach(async () => {
  database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
  await database.migrate();
  unitOfWork = new SqlUnitOfWork(database);
});
afterEach(() => database.close());

const treeOf = (n: number) => [aWhatsappBusiness({ name: `Business ${n}` })];

/** So many projects with a tree each; those with an odd number are live. */
const store = (count: number) =>
  unitOfWork.run(async ({ projects, whatsapp }) => {
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    await projects.insert(
      numbers.map((n) =>
        aProject({ id: anId(n), slug: `p-${n}`, environment: n % 2 === 1 ? 'live' : 'dev' }),
      ),
    );
    for (const n of numbers) await whatsapp.replace(anId(n), treeOf(n));
  });

const all = async () => {
  const trees = [];
  for await (const tree of liveTrees(unitOfWork)) trees.push(tree);
  return trees;
};

it('the live trees are those of live projects in their order, over every page', async () => {
  await store(TREES_PER_PAGE + 3);
  const live = Array.from({ length: TREES_PER_PAGE / 2 + 2 }, (_, index) => 2 * index + 1);
  expect(await all()).toEqual(live.map((n) => [anId(n), treeOf(n)]));
});

it('the live trees end behind a page that is full, and there are none without projects', async () => {
  expect(await all()).toEqual([]);
  await store(TREES_PER_PAGE);
  expect(await all()).toHaveLength(TREES_PER_PAGE / 2);
});

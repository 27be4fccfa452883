import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { liveTrees } from '../../../src/application/whatsapp/live-trees.ts';
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

it('the live trees are those of live projects in their order, each in a read of its own', async () => {
  await store(6);
  let reads = 0;
  const counted: Pick<UnitOfWork, 'read'> = {
    read: (work) => {
      reads += 1;
      return unitOfWork.read(work);
    },
  };
  const trees = [];
  for await (const tree of liveTrees(counted)) {
    trees.push(tree);
    expect(reads).toBe(trees.length);
  }
  expect(trees).toEqual([1, 3, 5].map((n) => [anId(n), treeOf(n)]));
});

it('there are no live trees without live projects', async () => {
  for await (const tree of liveTrees(unitOfWork)) expect.unreachable(`a tree of ${tree[0]}`);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, type DatabaseConfig, openDatabase } from '../../../src/adapters/knex/database.ts';
import { PARSED_TREES_CHARACTERS_MAX, ParsedTrees } from '../../../src/adapters/knex/parsed-trees.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import type { WhatsappBusiness } from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import { aProject, aWhatsappBusiness } from '../../support/builders.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const SCHEMA = `parsed_trees_${process.pid}`;
const PROJECT = aProject();
const ONE = [aWhatsappBusiness({ name: 'One' })];
const OTHER = [aWhatsappBusiness({ name: 'Other' })];

const document = 'x'.repeat(PARSED_TREES_CHARACTERS_MAX / 2);

function rowOf(projectId: string, version = 'v1', text = document) {
  return { project_id: projectId, version, document: text };
}

describe('parsed trees', () => {
  it('a tree is found in the version it was kept with, and in no other', () => {
    const trees = new ParsedTrees();
    trees.keep(rowOf('a'), ONE);
    expect(trees.find(rowOf('a'))).toBe(ONE);
    expect(trees.find(rowOf('a', 'v2'))).toBeNull();
    expect(trees.find(rowOf('b'))).toBeNull();
  });

  it('the tree that was not used for longest is dropped when all of them are too large', () => {
    const trees = new ParsedTrees();
    for (const projectId of ['a', 'b']) trees.keep(rowOf(projectId), ONE);
    trees.find(rowOf('a'));
    trees.keep(rowOf('c', 'v1', 'x'), OTHER);
    expect(trees.find(rowOf('a'))).toBe(ONE);
    expect(trees.find(rowOf('b'))).toBeNull();
    expect(trees.find(rowOf('c'))).toBe(OTHER);
  });

  it('a newer version of a tree takes the place of the older one', () => {
    const trees = new ParsedTrees();
    for (const version of ['v1', 'v2', 'v3']) trees.keep(rowOf('a', version), ONE);
    trees.keep(rowOf('b'), OTHER);
    expect(trees.find(rowOf('a', 'v3'))).toBe(ONE);
    expect(trees.find(rowOf('b'))).toBe(OTHER);
  });

  it('a tree that is larger than all may be is not kept, and drops no other', () => {
    const trees = new ParsedTrees();
    trees.keep(rowOf('a'), ONE);
    trees.keep(rowOf('b', 'v1', `${document}${document}x`), OTHER);
    expect(trees.find(rowOf('a'))).toBe(ONE);
    expect(trees.find(rowOf('b'))).toBeNull();
  });
});

describe('versions of trees on SQLite', () => versionsOn({ kind: 'sqlite', filename: ':memory:' }));

describe.skipIf(POSTGRES_URL === undefined)(
  `versions of trees on PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    const url = POSTGRES_URL ?? '';
    versionsOn({ kind: 'postgres', url, schema: SCHEMA, poolSize: 2, statementTimeoutMs: 2_000 });
  },
);

function versionsOn(config: DatabaseConfig): void {
  let database: Database;
  let unitOfWork: SqlUnitOfWork;

  beforeAll(async () => {
    database = openDatabase(config);
    unitOfWork = new SqlUnitOfWork(database);
    await database.migrate();
    await unitOfWork.run(({ projects }) => projects.insert([PROJECT]));
  });
  afterAll(async () => {
    if (config.kind === 'postgres') await database.knex.raw(`DROP SCHEMA ${SCHEMA} CASCADE`);
    await database.close();
  });

  const replace = (tree: readonly WhatsappBusiness[]) =>
    unitOfWork.run(({ whatsapp }) => whatsapp.replace(PROJECT.id, tree));
  const read = () =>
    unitOfWork.run(async ({ whatsapp }) => (await whatsapp.byProjectIds([PROJECT.id])).get(PROJECT.id));

  it('a tree that nobody replaced is parsed once', async () => {
    await replace(ONE);
    const first = await read();
    expect(first).toEqual(ONE);
    expect(await read()).toBe(first);
  });

  it('a tree that the program of the version before replaced is read again, and its numbers are found', async () => {
    await replace(ONE);
    await read();
    await database.knex.raw(
      `INSERT INTO whatsapp_resources (project_id, document) VALUES (?, ?)
       ON CONFLICT (project_id) DO UPDATE SET document = excluded.document`,
      [PROJECT.id, JSON.stringify(OTHER)],
    );
    expect(await read()).toEqual(OTHER);
    const numbers = OTHER.flatMap(({ whatsappAccounts }) =>
      whatsappAccounts.flatMap(({ phoneNumbers }) => phoneNumbers),
    );
    const ids = numbers.map(({ phoneNumberId, id }) => [phoneNumberId, id] as const);
    expect(ids).not.toEqual([]);
    const platformIds = numbers.map(({ phoneNumberId }) => phoneNumberId);
    expect(await unitOfWork.run(({ whatsapp }) => whatsapp.phoneIdsOf(platformIds))).toEqual(new Map(ids));
  });

  it('a tree that a transaction read and then took back is never seen again', async () => {
    await replace(ONE);
    const undone = unitOfWork.run(async ({ whatsapp }) => {
      await whatsapp.replace(PROJECT.id, OTHER);
      expect((await whatsapp.byProjectIds([PROJECT.id])).get(PROJECT.id)).toEqual(OTHER);
      throw new Error('taken back');
    });
    await expect(undone).rejects.toThrow('taken back');
    expect(await read()).toEqual(ONE);
    await replace([]);
    expect(await read()).toEqual([]);
  });
}

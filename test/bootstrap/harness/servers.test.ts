import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/adapters/knex/database.ts';
import { startHarness } from '../../../src/bootstrap/harness/harness.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const before = process.env.HARNESS_DATABASE_URL;

async function schemaOf({ knex }: Database): Promise<string> {
  return (await knex.raw('SELECT current_schema() AS name')).rows[0].name;
}

/** The schema of a harness that is started now, and closed again. */
async function nextSchema(): Promise<string> {
  const harness = await startHarness();
  const schema = await schemaOf(harness.service.roots.database);
  await harness.close();
  return schema;
}

describe.skipIf(POSTGRES_URL === undefined)(
  `a harness on a server${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    beforeEach(() => {
      process.env.HARNESS_DATABASE_URL = POSTGRES_URL;
    });
    afterEach(() => {
      if (before === undefined) delete process.env.HARNESS_DATABASE_URL;
      else process.env.HARNESS_DATABASE_URL = before;
    });

    it('a harness has a schema to itself until it is closed', async () => {
      const harness = await startHarness();
      const { database } = harness.service.roots;
      const schema = await schemaOf(database);
      expect(schema).toMatch(/^harness_[0-9a-f]{12}_[0-9]+$/);
      expect(await nextSchema()).not.toBe(schema);
      expect(await database.knex('projects').pluck('slug')).toEqual(['demo']);
      await harness.close();
      await harness.close();
      expect(await nextSchema()).toBe(schema);
    });

    it('a harness leaves its schema to others when it cannot start', async () => {
      let schema = '';
      const start = async ({ database }: { readonly database: Database }): Promise<void> => {
        schema = await schemaOf(database);
        throw new Error('It cannot start');
      };
      await expect(startHarness({ instruments: [{ start }] })).rejects.toThrow('It cannot start');
      expect(schema).toMatch(/^harness_/);
      expect(await nextSchema()).toBe(schema);
    });
  },
);

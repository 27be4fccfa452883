import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { startHarness } from '../../src/bootstrap/harness.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const before = process.env.HARNESS_DATABASE_URL;

afterEach(() => {
  if (before === undefined) delete process.env.HARNESS_DATABASE_URL;
  else process.env.HARNESS_DATABASE_URL = before;
});

/** Whether the server has a schema of this name: others may come and go meanwhile. */
async function hasSchema(name: string): Promise<boolean> {
  const client = new pg.Client(POSTGRES_URL);
  await client.connect();
  const { rows } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [name]);
  await client.end();
  return rows.length === 1;
}

it.skipIf(POSTGRES_URL === undefined)(
  `leaves no schema on a server${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  async () => {
    process.env.HARNESS_DATABASE_URL = POSTGRES_URL;
    const harness = await startHarness();
    const { knex } = harness.service.roots.database;
    const schema: string = (await knex.raw('SELECT current_schema() AS name')).rows[0].name;
    expect(schema).toMatch(/^harness_[0-9a-f]{12}$/);
    expect(await hasSchema(schema)).toBe(true);
    expect(await knex('projects').select('id')).not.toEqual([]);
    await harness.close();
    await harness.close();
    expect(await hasSchema(schema)).toBe(false);
  },
);

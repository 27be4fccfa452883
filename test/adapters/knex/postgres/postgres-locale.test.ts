import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/adapters/knex/database.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const missing = await whatIsMissing();

/** Why no database with a locale of its own can be made; null when it can. */
async function whatIsMissing(): Promise<string | null> {
  if (POSTGRES_URL === undefined) return 'TEST_POSTGRES_URL is not set';
  const isPossible = await asOperator(async (operator) => {
    const { rows } = await operator.query(
      `SELECT current_setting('server_version_num')::int >= 150000
         AND EXISTS (SELECT 1 FROM pg_collation WHERE collprovider = 'i')
         AND EXISTS (SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolcreatedb OR rolsuper)) AS is_possible`,
    );
    return rows[0]?.is_possible === true;
  });
  return isPossible ? null : 'needs PostgreSQL 15 with ICU, and a user who may make databases';
}

async function asOperator<T>(work: (operator: pg.Client) => Promise<T>): Promise<T> {
  const operator = new pg.Client({ connectionString: POSTGRES_URL });
  await operator.connect();
  try {
    return await work(operator);
  } finally {
    await operator.end();
  }
}

describe.skipIf(missing !== null)(
  `PostgreSQL with a locale of its own${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('returns rows in the order of their bytes', async () => {
      const name = `barid_locale_${process.pid}`;
      await asOperator((operator) =>
        operator.query(
          `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`,
        ),
      );
      const url = new URL(POSTGRES_URL ?? '');
      url.pathname = name;
      const database = openDatabase({
        kind: 'postgres',
        url: url.href,
        poolSize: 1,
        statementTimeoutMs: 2_000,
      });
      try {
        await database.knex.raw('CREATE TABLE names (id text COLLATE "C" PRIMARY KEY, place serial)');
        const insert = { table: 'names', columns: { id: 'text' }, orderBy: 'id' } as const;
        await database.withConnection(async (connection) => {
          await connection.begin('full');
          await connection.insert(insert, [{ id: 'a/b' }, { id: 'a/B' }, { id: 'Z' }, { id: 'a' }]);
          await connection.commit();
        });
        expect(await database.knex('names').orderBy('place').pluck('id')).toEqual(['Z', 'a', 'a/B', 'a/b']);
      } finally {
        await database.close();
        await asOperator((operator) => operator.query(`DROP DATABASE ${name}`));
      }
    });
  },
);

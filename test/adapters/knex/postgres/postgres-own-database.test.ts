import knex from 'knex';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../../src/adapters/knex/database.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const NAME = `barid_own_${process.pid}`;
const missing = await whatIsMissing();

let database: Database | null = null;

/** Why no database of its own can be made; null when it can. */
async function whatIsMissing(): Promise<string | null> {
  if (POSTGRES_URL === undefined) return 'TEST_POSTGRES_URL is not set';
  const [row] = await asOperator(
    'SELECT rolcreatedb OR rolsuper AS may FROM pg_roles WHERE rolname = current_user',
  );
  return row?.may === true ? null : 'needs a user who may make databases';
}

async function asOperator(...statements: readonly string[]): Promise<readonly { may?: boolean }[]> {
  const operator = new pg.Client({ connectionString: POSTGRES_URL });
  await operator.connect();
  try {
    let rows: readonly { may?: boolean }[] = [];
    for (const statement of statements) rows = (await operator.query<{ may?: boolean }>(statement)).rows;
    return rows;
  } finally {
    await operator.end();
  }
}

async function openOwn(encoding: string): Promise<Database> {
  await asOperator(`CREATE DATABASE ${NAME} TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C'`);
  const url = new URL(POSTGRES_URL ?? '');
  url.pathname = NAME;
  database = openDatabase({ kind: 'postgres', url: url.href, poolSize: 1, statementTimeoutMs: 2_000 });
  return database;
}

afterEach(async () => {
  await database?.close();
  database = null;
  if (missing === null) await asOperator(`DROP DATABASE IF EXISTS ${NAME} WITH (FORCE)`);
});

describe.skipIf(missing !== null)(
  `PostgreSQL with a database of its own${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('a database whose encoding cannot store every text is not migrated', async () => {
      const latin = await openOwn('LATIN1');
      await expect(latin.migrate()).rejects.toThrow(
        'the database has the encoding LATIN1, which cannot store',
      );
      expect(await latin.hasTables()).toBe(false);
      expect(await latin.fault()).toMatchObject({ detail: expect.stringContaining('LATIN1') });
    });

    it('a database that takes all bytes as they come is migrated', async () => {
      const ascii = await openOwn('SQL_ASCII');
      await ascii.migrate();
      expect(await ascii.hasTables()).toBe(true);
    });

    it('literals have their backslashes, whatever the database sets', async () => {
      const own = await openOwn('UTF8');
      await asOperator(`ALTER DATABASE ${NAME} SET standard_conforming_strings = off`);
      await own.migrate();
      expect((await own.knex.raw('SHOW standard_conforming_strings')).rows).toEqual([
        { standard_conforming_strings: 'on' },
      ]);
    });

    it('a time limit for statements that the database sets does not hold for migrations', async () => {
      const { dialect } = await openOwn('UTF8');
      await asOperator(`ALTER DATABASE ${NAME} SET statement_timeout = '10s'`);
      const migrating = knex(dialect.migrationConfig() ?? {});
      const { rows } = await migrating.raw('SHOW statement_timeout');
      await migrating.destroy();
      expect(rows).toEqual([{ statement_timeout: '0' }]);
    });
  },
);

import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import {
  StorageUnavailable,
  StorageUnwritable,
} from '../../../src/application/errors/storage-unavailable.ts';
import { anId, aProject } from '../../support/builders.ts';
import { until } from '../../support/until.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const SCHEMA = 'outages_test';
/** How often a unit of work runs that meets a conflict each time. */
const RUNS_MAX = 5;

/** As many as a pool has connections, and how many of them the lock of a row may take again and again. */
const UNITS_BEHIND_LOCK = 10;
const RETRIES_AT_A_TIME = 3;

const NOWHERE = 'postgres://127.0.0.1:1/nowhere';

describe('the codes of errors', () => {
  const postgres = openDatabase({ kind: 'postgres', url: NOWHERE, poolSize: 1, statementTimeoutMs: 2_000 });
  const sqlite = openDatabase({ kind: 'sqlite', filename: ':memory:' });
  afterAll(() => Promise.all([postgres.close(), sqlite.close()]));

  const sqliteError = (code: string) => new Sqlite.SqliteError('words', code);
  const postgresError = (code: string) => Object.assign(new Error('words'), { code });

  it.each([
    ['53100', 'the disk is full'],
    ['25006', 'it is read-only'],
  ])('PostgreSQL says with %s that it stores nothing: %s', (code, reason) => {
    const error = postgres.unavailable(postgresError(code));
    expect(error).toBeInstanceOf(StorageUnwritable);
    expect(error).toMatchObject({ reason });
  });

  it.each(['08006', '42501', '53200', '53300', '57014', '57P01', '58000', '58030'])(
    'PostgreSQL says with %s that it cannot do now what it was asked',
    (code) => {
      const error = postgres.unavailable(postgresError(code));
      expect(error).toBeInstanceOf(StorageUnavailable);
      expect(error).not.toBeInstanceOf(StorageUnwritable);
    },
  );

  it.each(['22P05', '22003', '23505', '40P01', '42703', '54000', '55P03', '58P01', 'XX000', 'XX001'])(
    'PostgreSQL says with %s that something is wrong with the statement, or that it met others',
    (code) => expect(postgres.unavailable(postgresError(code))).toBeNull(),
  );

  it.each(['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_CANTOPEN', 'SQLITE_NOMEM', 'SQLITE_PROTOCOL'])(
    'SQLite says with %s that it cannot do now what it was asked',
    (code) => expect(sqlite.unavailable(sqliteError(code))).toBeInstanceOf(StorageUnavailable),
  );

  it.each(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CORRUPT', 'SQLITE_TOOBIG', 'SQLITE_ERROR'])(
    'SQLite says with %s that something is wrong with the statement or its rows',
    (code) => expect(sqlite.unavailable(sqliteError(code))).toBeNull(),
  );

  it('says nothing of the database with an error that is not its own', () => {
    for (const database of [postgres, sqlite]) {
      expect([new Error('words'), 'words', null].map((error) => database.unavailable(error))).toEqual([
        null,
        null,
        null,
      ]);
    }
  });
});

describe.skipIf(POSTGRES_URL === undefined)(
  `PostgreSQL that fails${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    const operator = new pg.Client({ connectionString: POSTGRES_URL });
    let database: Database;
    let unitOfWork: SqlUnitOfWork;

    beforeAll(async () => {
      await operator.connect();
      await operator.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
      database = openDatabase({
        kind: 'postgres',
        url: POSTGRES_URL ?? '',
        schema: SCHEMA,
        poolSize: 1,
        statementTimeoutMs: 2_000,
      });
      unitOfWork = new SqlUnitOfWork(database);
      await database.migrate();
      await operator.query(
        `CREATE FUNCTION ${SCHEMA}.fail() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'it failed' USING ERRCODE = TG_ARGV[0]; END $$`,
      );
    });
    afterEach(async () => {
      await operator.query(`DROP TRIGGER IF EXISTS fails ON ${SCHEMA}.projects`);
    });
    afterAll(async () => {
      await database.close();
      await operator.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
      await operator.end();
    });

    const failWith = (code: string) =>
      operator.query(
        `CREATE TRIGGER fails BEFORE INSERT ON ${SCHEMA}.projects
         FOR EACH STATEMENT EXECUTE FUNCTION ${SCHEMA}.fail('${code}')`,
      );
    const pid = () =>
      database.withConnection(async (connection) => {
        const [row] = await connection.query('SELECT pg_backend_pid()::bigint AS pid', []);
        return row?.pid;
      });

    it.each([
      { code: '57014', name: 'StorageUnavailable', runs: 1 },
      { code: 'XX000', name: 'error', runs: 1 },
      { code: '40P01', name: 'StorageLocked', runs: RUNS_MAX },
      { code: '40001', name: 'StorageLocked', runs: RUNS_MAX },
      { code: '22P05', name: 'error', runs: 1 },
      { code: '23505', name: 'error', runs: 1 },
    ])(
      'a unit of work that fails with $code rejects with $name, after $runs runs',
      async ({ code, name, runs }) => {
        await failWith(code);
        let run = 0;
        const unit = unitOfWork.run(({ projects }) => {
          run += 1;
          return projects.insert([aProject()]);
        });
        await expect(unit).rejects.toMatchObject({ name, message: 'it failed' });
        expect(run).toBe(runs);
      },
    );

    it('a read that is stopped rejects with StorageUnavailable, and keeps the connection', async () => {
      const before = await pid();
      await operator.query(
        `ALTER TABLE ${SCHEMA}.workers RENAME TO all_workers;
         CREATE VIEW ${SCHEMA}.workers AS SELECT id, seen_at FROM pg_sleep(10) LEFT JOIN ${SCHEMA}.all_workers ON true`,
      );
      const read = unitOfWork.read(({ workers }) => workers.seenSince(0));
      await expect(read).rejects.toMatchObject({ name: 'StorageUnavailable' });
      expect(await pid()).toBe(before);
    });

    it('a read and a transaction that lose their connection reject with StorageAway', async () => {
      const before = await pid();
      const read = unitOfWork.read(async ({ projects }) => {
        await operator.query('SELECT pg_terminate_backend($1, 2000)', [before]);
        return projects.isEmpty();
      });
      await expect(read).rejects.toMatchObject({ name: 'StorageAway' });
      const next = await pid();
      const write = unitOfWork.run(async ({ projects }) => {
        await operator.query('SELECT pg_terminate_backend($1, 2000)', [next]);
        await projects.insert([aProject()]);
      });
      await expect(write).rejects.toMatchObject({ name: 'StorageAway' });
    });

    it('a migration that loses its connection while it waits for another one rejects with StorageAway', async () => {
      const another = new pg.Client({ connectionString: POSTGRES_URL });
      await another.connect();
      onTestFinished(() => another.end());
      await another.query(`BEGIN; LOCK TABLE ${SCHEMA}.knex_migrations`);
      const migration = database.migrate();
      const outcome = expect(migration).rejects.toMatchObject({ name: 'StorageAway' });
      await until(async () => {
        const { rowCount } = await operator.query(
          `SELECT pg_terminate_backend(waiting.pid) FROM pg_locks AS waiting
           WHERE NOT waiting.granted AND waiting.relation = '${SCHEMA}.knex_migrations'::regclass`,
        );
        return rowCount === 1;
      });
      await outcome;
      await another.query('ROLLBACK');
      await database.migrate();
    });

    it('says that it is read-only to writes and pings, reads go on, and the next session finds out anew', async () => {
      const insert = () => unitOfWork.run(({ projects }) => projects.insert([aProject()]));
      const readOnly = { name: 'StorageUnwritable', reason: 'it is read-only' };
      const makeReadOnly = () =>
        database.withConnection((connection) =>
          connection.query('SET default_transaction_read_only = on', []),
        );
      await makeReadOnly();
      expect(await unitOfWork.read(({ projects }) => projects.isEmpty())).toBe(true);
      await expect(unitOfWork.ping()).rejects.toMatchObject(readOnly);
      await unitOfWork.ping();
      await makeReadOnly();
      await expect(insert()).rejects.toMatchObject(readOnly);
      await insert();
      expect(await unitOfWork.read(({ projects }) => projects.isEmpty())).toBe(false);
    });

    it('of units of work that wait for the lock of a row few try again at a time, and all are done when it ends', async () => {
      const many = openDatabase({
        kind: 'postgres',
        url: POSTGRES_URL ?? '',
        schema: SCHEMA,
        poolSize: UNITS_BEHIND_LOCK,
        statementTimeoutMs: 2_000,
      });
      onTestFinished(() => many.close());
      const units = new SqlUnitOfWork(many);
      const project = aProject({ id: anId(77), slug: 'behind-a-lock' });
      await units.run(({ projects }) => projects.insert([project]));
      await operator.query('BEGIN');
      await operator.query(`SELECT id FROM ${SCHEMA}.projects WHERE id = '${project.id}' FOR UPDATE`);
      let retries = 0;
      let running = 0;
      let most = 0;
      const lock = async (): Promise<void> => {
        let tries = 0;
        await units.run(async ({ projects }) => {
          tries += 1;
          const counted = tries > 1 ? 1 : 0;
          retries += counted;
          running += counted;
          most = Math.max(most, running);
          await projects.lock([project.id]).finally(() => {
            running -= counted;
          });
        });
      };
      const waiting = Promise.all(Array.from({ length: UNITS_BEHIND_LOCK }, lock));
      await until(() => retries >= UNITS_BEHIND_LOCK);
      await operator.query('ROLLBACK');
      await waiting;
      expect(most).toBeLessThanOrEqual(RETRIES_AT_A_TIME);
    });
  },
);

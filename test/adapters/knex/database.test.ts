import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as eventLoopRound, setTimeout as sleep } from 'node:timers/promises';
import { millisecondsInMinute } from 'date-fns/constants';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import type { Reader } from '../../../src/adapters/knex/driver/connection.ts';
import { Session } from '../../../src/adapters/knex/driver/session.ts';
import { PostgresConnection } from '../../../src/adapters/knex/postgres/postgres-connection.ts';
import { SqlMessageSearchStore } from '../../../src/adapters/knex/stores/message-search-store.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { SearchMessages } from '../../../src/application/operators/search-messages.ts';
import type { Durability } from '../../../src/application/ports/unit-of-work.ts';
import { aMessage, aNewAccount, anSmsId, aProject, NOW, PROJECT_ID } from '../../support/builders.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const TABLES_MIN = 12;
const NUMBER = aMessage().phoneNumber;
const OTHER_NUMBER = '9647700000000' as typeof NUMBER;
const PAGE_BYTES = 4096;

describe('a SQLite file', () => {
  let folder: string;
  let filename: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'barid-database-'));
    filename = join(folder, 'not', 'yet', 'there', 'barid.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('names the values of a row correctly after another process has added a column', async () => {
    const filename = join(folder, 'growing.db');
    const [older, newer] = [filename, filename].map((name) =>
      openDatabase({ kind: 'sqlite', filename: name }),
    );
    if (older === undefined || newer === undefined) throw new Error('There are two');
    await older.migrate();
    const unitOfWork = new SqlUnitOfWork(older);
    await unitOfWork.run(({ installation }) => installation.getOrCreate('name', 'value'));
    const rows = () =>
      older.withConnection((connection) => connection.query('SELECT * FROM installation', []));
    expect(await rows()).toEqual([{ name: 'name', value: 'value' }]);
    await newer.knex.raw("ALTER TABLE installation ADD COLUMN since text DEFAULT 'now'");
    expect(await rows()).toEqual([{ name: 'name', value: 'value', since: 'now' }]);
    await newer.close();
    await older.close();
  });

  it('a SQLite file has the same pragmas on every opening, not only the first', async () => {
    for (const opening of ['first', 'second']) {
      const database = openDatabase({ kind: 'sqlite', filename });
      await database.migrate();
      const pragmas = await database.withConnection(async (connection) => {
        const pragma = async (name: string) =>
          Object.values((await connection.query(`PRAGMA ${name}`, []))[0] ?? {})[0];
        return {
          opening,
          journalMode: await pragma('journal_mode'),
          synchronous: await pragma('synchronous'),
          foreignKeys: await pragma('foreign_keys'),
          busyTimeoutMs: await pragma('busy_timeout'),
          cacheSize: await pragma('cache_size'),
          tempStore: await pragma('temp_store'),
          autoCheckpoint: await pragma('wal_autocheckpoint'),
          secureDelete: await pragma('secure_delete'),
        };
      });
      await database.close();
      expect(pragmas).toEqual({
        opening,
        journalMode: 'wal',
        synchronous: 1,
        foreignKeys: 1,
        busyTimeoutMs: 0,
        cacheSize: -16384,
        tempStore: 1,
        autoCheckpoint: 0,
        secureDelete: 1,
      });
    }
  });

  it('keeps committed rows, and leaves no log behind when it is closed', async () => {
    const first = openDatabase({ kind: 'sqlite', filename });
    await first.migrate();
    await new SqlUnitOfWork(first).run(({ projects }) => projects.insert([aProject()]));
    await first.close();
    await first.close();
    expect(existsSync(`${filename}-wal`)).toBe(false);
    const second = openDatabase({ kind: 'sqlite', filename });
    const found = await new SqlUnitOfWork(second).read(({ projects }) => projects.byIds([aProject().id]));
    await second.close();
    expect(found).toEqual([{ ...aProject(), archivedAt: null }]);
  });

  it('moves committed pages into the file while it is open', async () => {
    const database = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    await unitOfWork.run(({ projects }) => projects.insert([aProject()]));
    // Every table and index has a page of its own; before the thread moved them the file has one page at most.
    while (statSync(filename).size < TABLES_MIN * PAGE_BYTES) await eventLoopRound();
    await database.close();
  });

  it('a page of messages to a number reads 5,000 blocks at most, and says where to go on', async () => {
    const database = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    const smsId = anSmsId(1);
    await unitOfWork.run(async ({ projects, messages }) => {
      await projects.insert([aProject()]);
      await messages.insert([aMessage({ smsId, createdAt: 0 })]);
    });
    await database.knex.raw(`
      WITH RECURSIVE s(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < 5002)
      INSERT INTO number_blocks SELECT 'sms-' || printf('%024x', n), n FROM s`);
    await database.knex('messages_by_number').insert({ block: 1, phone_number: NUMBER, sms_id: smsId });
    const search = new SearchMessages({ unitOfWork });
    const filter = { project: null, phoneNumber: NUMBER, status: null, from: 0, to: NOW };
    const first = await search.page(filter, null, 5);
    expect(first).toEqual({ rows: [], next: { createdAt: 0, smsId: anSmsId(2) } });
    const second = await search.page(filter, first.next, 5);
    expect([second.rows.map((row) => row.smsId), second.next]).toEqual([[smsId], null]);
    await database.close();
  });

  it('a search finds each message once, also when its block is closed meanwhile', async () => {
    const database = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    const insert = (from: number, count: number, phoneNumber = NUMBER) =>
      unitOfWork.run(({ messages }) =>
        messages.insert(
          Array.from({ length: count }, (_, index) =>
            aMessage({ smsId: anSmsId(from + index), phoneNumber }),
          ),
        ),
      );
    await unitOfWork.run(({ projects }) => projects.insert([aProject()]));
    await insert(1, 3);
    const found = await database.withReader((reader) => {
      const closing: Reader = {
        query: async (sql, parameters) => {
          const rows = await reader.query(sql, parameters);
          // The one that reads the open block.
          if (sql.includes('phone_number = ?') && !sql.includes('JOIN')) await insert(4, 2_000, OTHER_NUMBER);
          return rows;
        },
        queryOnce: (sql, values) => reader.queryOnce(sql, values),
        batchQuery: (statement, keys) => reader.batchQuery(statement, keys),
      };
      const store = new SqlMessageSearchStore(Session.ofReads(closing, database.knex), 'blocks');
      return store.newest({
        projectId: null,
        phoneNumber: NUMBER,
        from: 0,
        to: NOW,
        after: null,
        limit: 10,
      });
    });
    expect(found.rows.map(({ smsId }) => smsId)).toEqual([3, 2, 1].map(anSmsId));
    expect(await database.knex('number_blocks')).toHaveLength(1);
    await database.close();
  });

  it('a message that is removed leaves its number nowhere, and the last one of a block takes the block along', async () => {
    const database = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    const idsFrom = (first: number) => Array.from({ length: 2_000 }, (_, index) => anSmsId(first + index));
    const insert = (smsIds: readonly string[]) =>
      unitOfWork.run(({ messages }) => messages.insert(smsIds.map((smsId) => aMessage({ smsId }))));
    const remove = (smsIds: readonly string[]) =>
      unitOfWork.run(({ retention }) => retention.removeMessages(smsIds));
    const entries = async () => (await database.knex('messages_by_number').pluck('sms_id')).toSorted();
    await unitOfWork.run(({ projects }) => projects.insert([aProject()]));
    const [first = '', ...others] = idsFrom(1);
    await insert([first, ...others]);
    await remove([first]);
    expect(await entries()).toEqual(others);
    await remove(others);
    expect(await entries()).toEqual([]);
    await insert(idsFrom(10_001));
    expect(await database.knex('number_blocks')).toEqual([{ last_sms_id: anSmsId(12_000), block: 2 }]);
    await database.close();
  });

  it('finds recent sends of other connections to the file, and of the time before it was opened', async () => {
    const open = () => {
      const database = openDatabase({ kind: 'sqlite', filename });
      return { database, unitOfWork: new SqlUnitOfWork(database) };
    };
    const first = open();
    await first.database.migrate();
    await first.unitOfWork.run(({ projects }) => projects.insert([aProject()]));
    const send = ({ unitOfWork }: typeof first, count: number) =>
      unitOfWork.run(({ messages }) =>
        messages.insert([aMessage({ smsId: anSmsId(count), createdAt: NOW + count })]),
      );
    const heard = ({ unitOfWork }: typeof first) =>
      unitOfWork.run(async ({ messages }) => {
        const { projectId, phoneNumber } = aMessage();
        const [found] = await messages.acceptedAt([
          { projectId, phoneNumber, since: NOW, until: NOW + 1_000, limit: 10 },
        ]);
        return found?.map((at) => at - NOW);
      });
    await send(first, 1);
    const second = open();
    expect(await heard(second)).toEqual([1]);
    await send(first, 2);
    await send(second, 3);
    expect([await heard(first), await heard(second)]).toEqual([
      [3, 2, 1],
      [3, 2, 1],
    ]);
    await expect(
      second.unitOfWork.run(async ({ messages }) => {
        await messages.insert([aMessage({ smsId: anSmsId(4), createdAt: NOW + 4 })]);
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    expect(await heard(second)).toEqual([3, 2, 1]);
    await send(first, 4);
    await expect(
      second.unitOfWork.run(async ({ messages }) => {
        await messages.insert([aMessage({ smsId: anSmsId(5), createdAt: NOW + 5 })]);
        throw new Error('undone together with what was read of the first');
      }),
    ).rejects.toThrow('undone');
    expect(await heard(second)).toEqual([4, 3, 2, 1]);
    await second.database.close();
    await first.database.close();
  });

  it('waits for the lock of another process without holding up the event loop', async () => {
    const [database, other] = [filename, filename].map((name) =>
      openDatabase({ kind: 'sqlite', filename: name }),
    );
    if (database === undefined || other === undefined) throw new Error('There are two');
    await database.migrate();
    await other.knex.raw('BEGIN IMMEDIATE');
    let isOver = false;
    const unit = new SqlUnitOfWork(database)
      .run(({ projects }) => projects.insert([aProject()]))
      .finally(() => {
        isOver = true;
      });
    const waits: number[] = [];
    while (waits.length < 50) {
      const askedAt = performance.now();
      await sleep(1);
      waits.push(performance.now() - askedAt);
    }
    expect(isOver).toBe(false);
    const reading = new SqlUnitOfWork(database).read(({ projects }) => projects.isEmpty());
    expect(await Promise.race([reading, unit])).toBe(true);
    // Half of the timers are on time, however busy the machine is.
    expect(waits.sort((a, b) => a - b)[25]).toBeLessThan(20);
    await other.knex.raw('ROLLBACK');
    await unit;
    await other.close();
    await database.close();
  });

  it('rejects a unit of work that another process keeps waiting too long, and goes on afterwards', async () => {
    const database = openDatabase({ kind: 'sqlite', filename, lockWaitMs: 100 });
    const other = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    await other.knex.raw('BEGIN IMMEDIATE');
    await expect(unitOfWork.run(({ projects }) => projects.isEmpty())).rejects.toThrow(StorageUnavailable);
    await other.knex.raw('ROLLBACK');
    expect(await unitOfWork.run(({ projects }) => projects.isEmpty())).toBe(true);
    await other.close();
    await database.close();
  });

  it('rejects units of work and pings with StorageUnwritable while the disk of the database is full', async () => {
    const database = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    const pages = Number((await database.knex.raw('PRAGMA page_count'))[0].page_count);
    await database.knex.raw(`PRAGMA max_page_count = ${pages}`);
    const insertMany = () =>
      unitOfWork.run(({ projects }) =>
        projects.insert(
          Array.from({ length: 1_000 }, (_, index) => {
            const id = index.toString(16).padStart(24, '0');
            return aProject({ id, slug: `project-${index}` });
          }),
        ),
      );
    const full = { name: 'StorageUnwritable', reason: 'the disk is full' };
    await expect(insertMany()).rejects.toMatchObject(full);
    await expect(unitOfWork.ping()).rejects.toMatchObject(full);
    expect(await unitOfWork.read(({ projects }) => projects.isEmpty())).toBe(true);
    await database.knex.raw('PRAGMA max_page_count = 1000000');
    await insertMany();
    await until(() =>
      unitOfWork.ping().then(
        () => true,
        () => false,
      ),
    );
    await database.close();
  });

  it('commits nothing of a unit of work whose disk was full at one of its statements', async () => {
    const database = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    const pages = Number((await database.knex.raw('PRAGMA page_count'))[0].page_count);
    await database.knex.raw(`PRAGMA max_page_count = ${pages + 4}`);
    const messages = Array.from({ length: 1_000 }, (_, index) =>
      aMessage({ smsId: `sms-${index.toString(16).padStart(24, '0')}` }),
    );
    const startedAtOnce = unitOfWork.run(({ messages: store, projects, jobs }) =>
      Promise.all([
        store.insert(messages),
        projects.insert([aProject()]),
        jobs.remove(['none']),
        jobs.add([startAttemptJob(aMessage(), 0, NOW)], NOW),
      ]),
    );
    await expect(startedAtOnce).rejects.toMatchObject({
      name: 'StorageUnwritable',
      reason: 'the disk is full',
    });
    const left = await unitOfWork.read(async ({ projects, jobs }) => [
      await projects.isEmpty(),
      await jobs.nextDue(),
    ]);
    expect(left).toEqual([true, null]);
    await database.close();
  });

  it('finds recent sends behind a message from a clock that ran ahead', async () => {
    const sentAt = Date.now() - millisecondsInMinute;
    const sends = [sentAt, sentAt + 24 * 60 * millisecondsInMinute].map((createdAt) =>
      aMessage({ smsId: `sms-${createdAt.toString(16).padStart(12, '0').padEnd(24, '0')}`, createdAt }),
    );
    const first = openDatabase({ kind: 'sqlite', filename });
    await first.migrate();
    await new SqlUnitOfWork(first).run(async ({ projects, messages }) => {
      await projects.insert([aProject()]);
      await messages.insert(sends);
    });
    await first.close();
    const second = openDatabase({ kind: 'sqlite', filename });
    const found = await new SqlUnitOfWork(second).run(({ messages }) => {
      const { projectId, phoneNumber } = aMessage();
      return messages.acceptedAt([{ projectId, phoneNumber, since: sentAt - 1, until: sentAt, limit: 10 }]);
    });
    await second.close();
    expect(found).toEqual([[sentAt]]);
  });

  it('finds recent sends of before a rate window became longer', async () => {
    const sentAt = Date.now();
    const sends = [sentAt - 30 * millisecondsInMinute, sentAt].map((createdAt) =>
      aMessage({ smsId: `sms-${createdAt.toString(16).padStart(12, '0').padEnd(24, '0')}`, createdAt }),
    );
    const first = openDatabase({ kind: 'sqlite', filename });
    await first.migrate();
    await new SqlUnitOfWork(first).run(async ({ projects, messages }) => {
      await projects.insert([
        aProject({ settings: { rateLimit: { maxRequests: 5, timeWindowMinutes: 1 } } }),
      ]);
      await messages.insert(sends);
    });
    await first.close();
    const second = openDatabase({ kind: 'sqlite', filename });
    const unitOfWork = new SqlUnitOfWork(second);
    const { projectId, phoneNumber } = aMessage();
    const heard = () =>
      unitOfWork.run(({ messages }) =>
        messages.acceptedAt([{ projectId, phoneNumber, since: 0, until: sentAt, limit: 10 }]),
      );
    expect(await heard()).toEqual([[sentAt]]);
    await unitOfWork.run(({ projects }) =>
      projects.save([
        {
          ...aProject({ settings: { rateLimit: { maxRequests: 5, timeWindowMinutes: 60 } } }),
          archivedAt: null,
        },
      ]),
    );
    expect(await heard()).toEqual([[sentAt, sentAt - 30 * millisecondsInMinute]]);
    await second.close();
  });

  it('rejects a unit of work while another process has renamed the messages, and goes on afterwards', async () => {
    const [database, other] = [filename, filename].map((name) =>
      openDatabase({ kind: 'sqlite', filename: name }),
    );
    if (database === undefined || other === undefined) throw new Error('There are two');
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    const unit = () => unitOfWork.run(({ projects }) => projects.isEmpty());
    expect(await unit()).toBe(true);
    await other.knex.raw('ALTER TABLE messages RENAME TO misplaced');
    await expect(unit()).rejects.toThrow('The table messages is gone');
    await other.knex.raw('ALTER TABLE misplaced RENAME TO messages');
    expect(await unit()).toBe(true);
    await other.close();
    await database.close();
  });

  it('creates the file and its log readable by its own user only', async () => {
    const database = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const modes = [filename, `${filename}-wal`, join(folder, 'not')].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o700]);
    await database.close();
  });

  it('rejects a file that is not a database', async () => {
    const database = openDatabase({ kind: 'sqlite', filename: process.execPath });
    await expect(database.migrate()).rejects.toThrow(/not a database|readonly|unable to open/);
    await database.close();
  });
});

describe.skipIf(POSTGRES_URL === undefined)(
  `PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    const url = POSTGRES_URL ?? '';
    let database: Database;
    let operator: pg.Client;

    beforeEach(async () => {
      database = openDatabase({ kind: 'postgres', url, poolSize: 2, statementTimeoutMs: 2_000 });
      operator = new pg.Client({ connectionString: url });
      await operator.connect();
    });
    afterEach(async () => {
      await database.close();
      await operator.end();
    });

    /** A database of its own that is reached through a network that can be cut. */
    async function behindProxy(poolSize: number) {
      const { hostname, port } = new URL(url);
      const network = await TcpProxy.open({ host: hostname, port: Number(port) });
      const remote = openDatabase({
        kind: 'postgres',
        url: network.through(url),
        poolSize,
        statementTimeoutMs: 2_000,
      });
      return { network, remote };
    }

    /** A client as the pool makes them, with a table that nobody else sees. */
    async function clientWithProbe(): Promise<pg.Client> {
      const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig);
      await client.connect();
      await client.query('CREATE TEMP TABLE probe (id text PRIMARY KEY)');
      return client;
    }

    it('runs every connection durably, under the limits that were set', async () => {
      const settings = await database.withConnection((connection) =>
        connection.query(
          `SELECT name, setting FROM pg_settings WHERE name IN (
            'synchronous_commit', 'statement_timeout', 'idle_in_transaction_session_timeout') ORDER BY name`,
          [],
        ),
      );
      expect(settings).toEqual([
        { name: 'idle_in_transaction_session_timeout', setting: '4000' },
        { name: 'statement_timeout', setting: '2000' },
        { name: 'synchronous_commit', setting: 'on' },
      ]);
    });

    it('a connection is read committed by default, whatever the default of the database', async () => {
      const serializable = new URL(url);
      serializable.searchParams.set('options', '-c default_transaction_isolation=serializable');
      const other = openDatabase({
        kind: 'postgres',
        url: serializable.href,
        poolSize: 1,
        statementTimeoutMs: 2_000,
      });
      const isolation = await other.withConnection(async (connection) => {
        const [row] = await connection.query('SHOW default_transaction_isolation', []);
        return row?.default_transaction_isolation;
      });
      expect(isolation).toBe('read committed');
      await other.close();
    });

    it('syncs every commit of full durability, also after one of eventual durability', async () => {
      const only = openDatabase({ kind: 'postgres', url, poolSize: 1, statementTimeoutMs: 2_000 });
      const synchronousIn = (durability: Durability) =>
        only.withConnection(async (connection) => {
          await connection.begin(durability);
          const [row] = await connection.query('SHOW synchronous_commit', []);
          await connection.commit();
          return row?.synchronous_commit;
        });
      expect([
        await synchronousIn('full'),
        await synchronousIn('eventual'),
        await synchronousIn('full'),
      ]).toEqual(['on', 'off', 'on']);
      await only.close();
    });

    it('returns 64-bit integers as numbers, and keeps its connection when a number cannot hold one', async () => {
      await database.withConnection(async (connection) => {
        const select = (value: string) => connection.query(`SELECT ${value}::bigint AS value`, []);
        const pid = await connection.query('SELECT pg_backend_pid()', []);
        expect(await select('9007199254740991')).toEqual([{ value: 9_007_199_254_740_991 }]);
        expect(await select('9007199254740993')).toEqual([{ value: 2 ** 53 }]);
        expect(await connection.query('SELECT pg_backend_pid()', [])).toEqual(pid);
      });
    });

    it('rejects a unit of work whose connection is lost, and runs the next on a new one', async () => {
      const unitOfWork = new SqlUnitOfWork(database);
      const lost = database.withConnection(async (connection) => {
        await connection.begin('full');
        const [row] = await connection.query('SELECT pg_backend_pid()::bigint AS pid', []);
        await operator.query('SELECT pg_terminate_backend($1)', [row?.pid]);
        await connection.query('SELECT 1', []);
      });
      await expect(lost).rejects.toThrow(/terminat|not queryable/);
      for (let count = 0; count < 4; count += 1) await unitOfWork.ping();
    });

    it('rejects with StorageUnavailable when the connection is lost in a unit of work', async () => {
      const only = openDatabase({ kind: 'postgres', url, poolSize: 1, statementTimeoutMs: 2_000 });
      const [row] = await only.withConnection((connection) =>
        connection.query('SELECT pg_backend_pid()::bigint AS pid', []),
      );
      const unit = new SqlUnitOfWork(only).run(async () => {
        await operator.query('SELECT pg_terminate_backend($1, 2000)', [row?.pid]);
      });
      await expect(unit).rejects.toBeInstanceOf(StorageUnavailable);
      await only.close();
    });

    it('does not use a connection again that the server closed between two statements', async () => {
      const client = await clientWithProbe();
      const connection = new PostgresConnection(client);
      const [row] = await connection.query('SELECT pg_backend_pid()::bigint AS pid', []);
      const ended = new Promise<void>((resolve) => client.once('end', resolve));
      // The client tells of the loss twice, and the connection listens for the first time only.
      client.on('error', () => {});
      await operator.query('SELECT pg_terminate_backend($1)', [row?.pid]);
      await ended;
      expect(connection.isUsable()).toBe(false);
    });

    it('does not use a connection again that the server closed during a statement', async () => {
      const client = await clientWithProbe();
      const connection = new PostgresConnection(client);
      const [row] = await connection.query('SELECT pg_backend_pid()::bigint AS pid', []);
      client.on('error', () => {});
      const usable = connection.query('SELECT pg_sleep(10)', []).then(
        () => true,
        () => connection.isUsable(),
      );
      await operator.query('SELECT pg_terminate_backend($1)', [row?.pid]);
      expect(await usable).toBe(false);
    });

    it('replaces a connection that was lost while it was idle', async () => {
      const unitOfWork = new SqlUnitOfWork(database);
      const raw = await database.withConnection(async (connection) => {
        const [row] = await connection.query('SELECT pg_backend_pid()::bigint AS pid', []);
        return row?.pid;
      });
      const client: pg.Client = await database.knex.client.acquireConnection();
      await database.knex.client.releaseConnection(client);
      // Not `once`, for the error that comes before the end would reject it.
      const ended = new Promise<void>((resolve) => client.once('end', resolve));
      await operator.query('SELECT pg_terminate_backend($1)', [raw]);
      await ended;
      await expect(unitOfWork.ping()).resolves.toBeUndefined();
    });

    it('serves again by itself once the database is back', async () => {
      const { network, remote } = await behindProxy(2);
      const unitOfWork = new SqlUnitOfWork(remote);
      await Promise.all([unitOfWork.ping(), unitOfWork.ping()]);
      network.sever();
      await expect(unitOfWork.ping()).rejects.toThrow();
      await expect(unitOfWork.ping()).rejects.toThrow();
      network.restore();
      for (let count = 0; count < 4; count += 1) await unitOfWork.ping();
      await remote.close();
      await network.close();
    });

    it('rejects a commit with the failure before it', async () => {
      const commit = database.withConnection(async (connection) => {
        await connection.begin('full');
        await connection.query('SELECT 1 / 0', []).catch(() => {});
        await connection.commit();
      });
      await expect(commit).rejects.toThrow('division by zero');
    });

    it('does not fail statements after a transaction for a failure within it', async () => {
      await database.withConnection(async (connection) => {
        for (const end of ['commit', 'rollback'] as const) {
          await connection.begin('full');
          await connection[end]();
          await expect(connection.query('SELECT 1 / 0', [])).rejects.toThrow('division by zero');
          await expect(connection.query('SELECT missing', [])).rejects.toThrow('missing');
        }
      });
    });

    it('does not wait for the results of BEGIN and bulk changes before the commit', async () => {
      const { network, remote } = await behindProxy(1);
      const unitOfWork = new SqlUnitOfWork(remote);
      await unitOfWork.ping();
      network.pause();
      let isWritten = false;
      const unit = unitOfWork.run(async ({ jobs }) => {
        await jobs.add([startAttemptJob(aMessage(), 0, NOW)], NOW);
        isWritten = true;
        throw new Error('undone');
      });
      const ended = expect(unit).rejects.toThrow('undone');
      for (let round = 0; round < 20; round += 1) await eventLoopRound();
      expect(isWritten).toBe(true);
      network.resume();
      await ended;
      await remote.close();
      await network.close();
    });

    it('stores nothing when BEGIN failed', async () => {
      const client = await clientWithProbe();
      const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
      Object.assign(client, {
        query: (text: unknown, ...rest: unknown[]) =>
          query(typeof text === 'string' && text.startsWith('BEGIN') ? 'SELECT 1 / 0' : text, ...rest),
      });
      const connection = new PostgresConnection(client);
      const insert = () => connection.execute("INSERT INTO probe VALUES ('x')", []);
      await connection.begin('full');
      const unit = [connection.query('SELECT 1', []), insert(), connection.query('SELECT 2', [])];
      for (const statement of await Promise.allSettled(unit)) {
        expect(statement).toMatchObject({ status: 'rejected', reason: { message: 'division by zero' } });
      }
      await expect(connection.commit()).rejects.toThrow('division by zero');
      await connection.rollback();
      expect(await connection.query('SELECT id FROM probe', [])).toEqual([]);
      await insert();
      expect(await connection.query('SELECT id FROM probe', [])).toEqual([{ id: 'x' }]);
      await client.end();
    });

    it.each([
      { when: 'before the result of BEGIN', isBegun: false },
      { when: 'after the result of BEGIN', isBegun: true },
    ])('commits nothing when a statement could not be sent, $when', async ({ isBegun }) => {
      await operator.query(
        'DROP TABLE IF EXISTS database_test_unsent; CREATE TABLE database_test_unsent (id text)',
      );
      const unsendable = {
        toPostgres() {
          throw new Error('cannot be sent');
        },
      } as never;
      const unit = database.withConnection(async (connection) => {
        await connection.begin('full');
        if (isBegun) await connection.query('SELECT 1', []);
        for (const id of ['x', unsendable]) {
          connection.execute('INSERT INTO database_test_unsent VALUES (?)', [id]).catch(() => {});
        }
        await connection.commit();
      });
      await expect(unit).rejects.toThrow('cannot be sent');
      const { rows } = await operator.query('SELECT id FROM database_test_unsent');
      expect(rows).toEqual([]);
      await operator.query('DROP TABLE database_test_unsent');
    });

    it.each([
      ['tries again', 'long', 5_000],
      ['tries again', 'long', 1_000],
      ['rejects with StorageLocked', 'brief', 5_000],
    ] as const)(
      '%s when a lock is held for longer than the timeout of a %s wait, with %d ms for a statement',
      async (_, lockWait, statementTimeoutMs) => {
        const schema = `database_test_locks_${lockWait}`;
        await operator.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        const patient = openDatabase({ kind: 'postgres', url, schema, poolSize: 1, statementTimeoutMs });
        await patient.migrate();
        const unitOfWork = new SqlUnitOfWork(patient);
        await unitOfWork.run(async ({ projects, accounts }) => {
          await projects.insert([aProject()]);
          await accounts.insert([aNewAccount()]);
        });
        await operator.query(`BEGIN; SELECT * FROM ${schema}.accounts FOR UPDATE`);
        let attempts = 0;
        const unit = unitOfWork.run(
          async ({ accounts }) => {
            attempts += 1;
            if (attempts === 2) await operator.query('COMMIT');
            return accounts.lock([PROJECT_ID]);
          },
          'full',
          lockWait,
        );
        const outcome = await unit.catch((error: unknown) => error);
        if (lockWait === 'brief') await operator.query('COMMIT');
        if (lockWait === 'long') expect(outcome).toHaveLength(1);
        else expect(outcome).toBeInstanceOf(StorageLocked);
        expect(attempts).toBe(lockWait === 'long' ? 2 : 1);
        await patient.close();
        await operator.query(`DROP SCHEMA ${schema} CASCADE`);
      },
    );

    it('makes no change of a transaction that was rolled back before BEGIN returned, and keeps the order of statements', async () => {
      const client = await clientWithProbe();
      const connection = new PostgresConnection(client);
      const insert = () => connection.execute("INSERT INTO probe VALUES ('x')", []);
      const rows = () => connection.query('SELECT id FROM probe', []);
      await connection.begin('full');
      const late = expect(insert()).rejects.toThrow('The transaction is over');
      await connection.rollback();
      await late;
      expect(await rows()).toEqual([]);
      await connection.begin('full');
      const [before, , after] = await Promise.all([rows(), insert(), rows(), connection.commit()]);
      expect([before, after]).toEqual([[], [{ id: 'x' }]]);
      expect(await rows()).toEqual([{ id: 'x' }]);
      await client.end();
    });

    it('stops a statement at the statement timeout, and keeps the connection', async () => {
      const slow = openDatabase({ kind: 'postgres', url, poolSize: 1, statementTimeoutMs: 50 });
      const pidOf = () =>
        slow.withConnection(async (connection) => (await connection.query('SELECT pg_backend_pid()', []))[0]);
      const before = await pidOf();
      await expect(
        slow.withConnection((connection) => connection.query('SELECT pg_sleep(5)', [])),
      ).rejects.toThrow('statement timeout');
      expect(await pidOf()).toEqual(before);
      await slow.close();
    });
  },
);

describe('PostgreSQL that is not there', () => {
  it('rejects a unit of work at once when PostgreSQL is not there', async () => {
    const database = openDatabase({
      kind: 'postgres',
      url: 'postgres://nobody@127.0.0.1:1/nothing',
      poolSize: 2,
      statementTimeoutMs: 1_000,
    });
    await expect(new SqlUnitOfWork(database).ping()).rejects.toThrow('ECONNREFUSED');
    await database.close();
  });
});

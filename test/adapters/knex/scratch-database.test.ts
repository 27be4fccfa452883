import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Database, type DatabaseConfig, openDatabase } from '../../../src/adapters/knex/database.ts';
import { takeScratchDatabase } from '../../../src/adapters/knex/scratch-database.ts';
import { until } from '../../support/until.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const PROJECT = { id: 'p1', slug: 'shop', name: 'Shop', environment: 'dev', settings: '{}' };
const ACCOUNT = { project_id: PROJECT.id, payment_type: 'prepaid', balance: 1, held: 0, spent: 0 };

/** A scratch database and a connection to it. */
interface Taken {
  readonly database: Database;
  readonly config: DatabaseConfig;
  close(): Promise<void>;
}

const open: Taken[] = [];
afterEach(async () => {
  for (const taken of open.splice(0)) await taken.close();
});

async function take(config: DatabaseConfig): Promise<Taken> {
  const scratch = await takeScratchDatabase(config);
  const database = openDatabase(scratch.config);
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closed ??= database.close().then(() => scratch.release());
    return closed;
  };
  const taken = { database, config: scratch.config, close };
  open.push(taken);
  return taken;
}

function scratchContract(configOf: () => DatabaseConfig): void {
  it('a scratch database has every migration', async () => {
    const { database } = await take(configOf());
    expect((await database.migrationStatus()).pending).toEqual([]);
  });

  it('a scratch database does not show its rows to another one that is taken meanwhile', async () => {
    const [first, second] = [await take(configOf()), await take(configOf())];
    await first.database.knex('projects').insert(PROJECT);
    expect(await second.database.knex('projects')).toEqual([]);
    expect(await first.database.knex('projects').pluck('id')).toEqual([PROJECT.id]);
  });

  it('a scratch database has the rows of the migrations and no others, whatever its earlier user did', async () => {
    const rows = async ({ database: { knex } }: Taken) => [
      await knex('projects').pluck('id'),
      await knex('accounts').pluck('project_id'),
      await knex('price_schedule').pluck('revision'),
    ];
    const first = await take(configOf());
    const fresh = await rows(first);
    const { knex } = first.database;
    await knex('projects').insert(PROJECT);
    await knex('accounts').insert(ACCOUNT);
    await knex('price_schedule').update({ revision: 7 });
    expect(await rows(first)).toEqual([[PROJECT.id], [PROJECT.id], [7]]);
    await first.close();
    expect(await rows(await take(configOf()))).toEqual(fresh);
  });
}

describe('a scratch database in memory', () => {
  scratchContract(() => ({ kind: 'sqlite', filename: ':memory:' }));
});

describe('a file', () => {
  it('a scratch database in a file is that file', async () => {
    const config = { kind: 'sqlite', filename: 'data/barid.db' } as const;
    expect((await takeScratchDatabase(config)).config).toEqual(config);
  });
});

describe.skipIf(POSTGRES_URL === undefined)(
  `a scratch database on PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    const configOf = () =>
      ({ kind: 'postgres', url: POSTGRES_URL ?? '', poolSize: 2, statementTimeoutMs: 10_000 }) as const;
    const schemaOf = ({ config }: Taken) => (config.kind === 'postgres' ? config.schema : undefined);

    /** Takes schemas until this one is among them: other tests take and release schemas meanwhile. */
    const untilTaken = (schema: string | undefined) =>
      until(async () => schemaOf(await take(configOf())) === schema);

    scratchContract(configOf);

    it('a schema is taken again once it is released', async () => {
      const first = await take(configOf());
      await first.close();
      await untilTaken(schemaOf(first));
    });

    it('several that take a schema at once get one each', async () => {
      const taken = await Promise.all([1, 2, 3].map(() => take(configOf())));
      expect(new Set(taken.map(schemaOf)).size).toBe(3);
    });

    it('a schema of another process is free once that process is killed, and not before', async () => {
      const child = fork(join(import.meta.dirname, 'scratch-process.ts'), [JSON.stringify(configOf())], {
        execArgv: ['--import', 'tsx'],
      });
      const [schema] = await once(child, 'message');
      expect(schemaOf(await take(configOf()))).not.toBe(schema);
      child.kill('SIGKILL');
      await untilTaken(schema);
    });
  },
);

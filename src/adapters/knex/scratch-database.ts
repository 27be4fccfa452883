import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import pg from 'pg';
import { type DatabaseConfig, openDatabase } from './database.ts';
import type { PostgresConfig } from './postgres/postgres-dialect.ts';
import { IN_MEMORY, sqliteFileOf } from './sqlite/file/sqlite-file.ts';
import type { SqliteConfig } from './sqlite/sqlite-dialect.ts';

/** A database with the tables of this version and the rows of its migrations, which one user has at a time: for tests. */
export interface ScratchDatabase {
  readonly config: DatabaseConfig;
  /** Lets the next one have the database. The connections to it have to be closed first. */
  release(): Promise<void>;
}

/** Separates our advisory locks from anyone else's. */
const SCRATCH_LOCK = 0x6261_7273;

/** The files that decide what the tables of a schema are. */
const DDL_FOLDERS = ['migrations', 'postgres'].map((folder) => join(import.meta.dirname, folder));
const DIGEST_CHARACTERS = 12;

/** A migrated database in memory, once a copy of it was wanted in this process. */
let image: Promise<Buffer> | null = null;
/** The migrated schema of each server by url, once a schema was wanted there in this process. */
const migrated = new Map<string, Promise<string>>();
/**
 * The connections to each server by url. Each has locked a schema, and keeps it for the next user in this process. A new one
 * would read the catalog of all tables first, which takes longer than copying the rows. An idle one keeps no process awake.
 */
const pools = new Map<string, pg.Pool>();
/** What each connection has locked. */
const schemas = new WeakMap<pg.PoolClient, string>();

/**
 * Takes a scratch database. Migrations take far longer than most tests, so they run once: a database in memory is a copy of a
 * migrated one, and a PostgreSQL server keeps its scratch schemas, which get the rows of a migrated one when they are taken. A
 * file is taken as it is: its service migrates it.
 */
export async function takeScratchDatabase(config: DatabaseConfig): Promise<ScratchDatabase> {
  if (config.kind === 'postgres') return takeSchema(config);
  const isInMemory = sqliteFileOf(config) === null;
  return { config: isInMemory ? await copyInMemory(config) : config, release: async () => undefined };
}

async function copyInMemory(config: SqliteConfig): Promise<SqliteConfig> {
  image ??= makeImage();
  return { ...config, image: await image };
}

async function makeImage(): Promise<Buffer> {
  const database = openDatabase({ kind: 'sqlite', filename: IN_MEMORY });
  try {
    await database.migrate();
    const { client } = database.knex;
    const raw: Sqlite.Database = await client.acquireConnection();
    const content = raw.serialize();
    await client.releaseConnection(raw);
    return content;
  } finally {
    await database.close();
  }
}

/** The lock of a schema ends with its connection: a schema of a process that has ended is free again. */
async function takeSchema(config: PostgresConfig): Promise<ScratchDatabase> {
  const source = await migratedOn(config);
  const client = await poolOf(config).connect();
  try {
    const schema = schemas.get(client) ?? (await lockSchema(client, source));
    schemas.set(client, schema);
    const tables = await tablesOf(client, schema);
    if (tables.length === 0) await migrateSchema(config, schema);
    else await copyRows(client, { tables, source, target: schema });
    return { config: { ...config, schema }, release: async () => client.release() };
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function poolOf({ url }: PostgresConfig): pg.Pool {
  const pool = pools.get(url) ?? newPool(url);
  pools.set(url, pool);
  return pool;
}

function newPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: Number.MAX_SAFE_INTEGER,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  });
  // The tests on a server that is gone fail by themselves.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Resolves with the name of a schema that nobody takes: it keeps the state after the migrations. */
function migratedOn(config: PostgresConfig): Promise<string> {
  const { url } = config;
  let schema = migrated.get(url);
  if (schema === undefined) {
    schema = migrateSchema(config, `harness_${digestOfMigrations()}`);
    migrated.set(url, schema);
    schema.catch(() => migrated.delete(url));
  }
  return schema;
}

async function migrateSchema(config: PostgresConfig, schema: string): Promise<string> {
  const database = openDatabase({ ...config, schema });
  try {
    await database.migrate();
  } finally {
    await database.close();
  }
  return schema;
}

/** Changes with every migration: one that is still being written has schemas of its own. */
function digestOfMigrations(): string {
  const hash = createHash('sha256');
  for (const folder of DDL_FOLDERS)
    for (const file of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, DIGEST_CHARACTERS);
}

/** Locks the first schema that is free, and resolves with its name. The schema may not exist yet. */
async function lockSchema(client: pg.PoolClient, source: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const schema = `${source}_${number}`;
    const locking = 'SELECT pg_try_advisory_lock($1, hashtext($2)) AS "isOurs"';
    const { rows } = await client.query(locking, [SCRATCH_LOCK, schema]);
    if (rows[0].isOurs) return schema;
  }
}

async function tablesOf(client: pg.PoolClient, schema: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = $1 AND tablename NOT LIKE 'knex%'",
    [schema],
  );
  return rows.map(({ name }) => name);
}

interface RowCopy {
  readonly tables: readonly string[];
  readonly source: string;
  readonly target: string;
}

/**
 * Gives one schema the rows of another, in one transaction. DELETE, because TRUNCATE would make new files for all tables and
 * indexes. One statement for all tables, because foreign keys are checked at its end: so the order of the tables does not matter.
 */
async function copyRows(client: pg.PoolClient, { tables, source, target }: RowCopy): Promise<void> {
  const inAll = (change: (table: string) => string): string =>
    `WITH ${tables.map((table, index) => `change_${index} AS (${change(table)})`).join(', ')} SELECT 1`;
  const deletions = inAll((table) => `DELETE FROM ${target}.${table}`);
  const insertions = inAll((table) => `INSERT INTO ${target}.${table} SELECT * FROM ${source}.${table}`);
  await client.query(`${deletions}; ${insertions}`);
}

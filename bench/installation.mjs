import { mkdtempSync, openSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPrivatePostgres, startPrivateRabbit } from '../scripts/services.mjs';
import { checkBooks, repeatedSubmissions, SOON_MS } from './books.mjs';
import { startChild } from './child.mjs';

/** Past every carrier's report window (72 h). */
const WINDOWS_AHEAD_MS = 73 * 3_600_000;
const POLL_MS = 100;

/**
 * Several processes of the service on a PostgreSQL and a RabbitMQ of their own, and a second way into the
 * database for whoever asks what is true.
 */
export class Installation {
  postgres;
  rabbit;
  /** By name, for example `api-1`. */
  processes = new Map();
  folder = mkdtempSync(join(tmpdir(), 'barid-installation-'));
  /** How far the clock of every process is ahead. */
  aheadMs = 0;
  #environment;
  #output = openSync(join(this.folder, 'service.log'), 'a');
  #submissionsFile = join(this.folder, 'submissions');

  constructor(postgres, rabbit, environment) {
    this.postgres = postgres;
    this.rabbit = rabbit;
    this.#environment = environment;
  }

  /** Starts the servers and then every process at the same moment, on an empty database. */
  static async start(names, environment = {}) {
    const [postgres, rabbit] = await Promise.all([startPrivatePostgres(), startPrivateRabbit()]);
    const build = process.env.BENCH_BUILD ?? realpathSync(new URL('../dist', import.meta.url));
    const installation = new Installation(postgres, rabbit, { BENCH_BUILD: build, ...environment });
    await Promise.all(names.map((name) => installation.startProcess(name)));
    return installation;
  }

  /** The role is the name up to the hyphen. Resolves once it works. */
  async startProcess(name) {
    const [role] = name.split('-');
    const child = await startChild(
      'servers/service.mjs',
      {
        ROLE: role,
        DATABASE_URL: this.postgres.url,
        QUEUE_URL: this.rabbit.url,
        BENCH_CLOCK_AHEAD_MS: String(this.aheadMs),
        BENCH_SUBMISSIONS_FILE: this.#submissionsFile,
        ...this.#environment,
      },
      { output: this.#output },
    );
    this.processes.set(name, child);
    return child;
  }

  apiPorts() {
    return [...this.processes]
      .filter(([name, child]) => name.startsWith('api') && !child.isOver())
      .map(([, { port }]) => port);
  }

  /** Grows with every submission to a channel. */
  submittedBytes() {
    return statSync(this.#submissionsFile).size;
  }

  /** The service's own present time. */
  now() {
    return Date.now() + this.aheadMs;
  }

  async withDatabase(work) {
    const client = new pg.Client({ connectionString: this.postgres.url });
    client.on('error', () => {});
    await client.connect();
    try {
      return await work(async (sql, values = []) => (await client.query(sql, values)).rows);
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** What the rows say (see `checkBooks`), what VerifyLedger says, and whether anything was submitted twice. */
  async check({ acknowledged, quiet }) {
    const books = await this.withDatabase(async (query) => {
      await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      return checkBooks(query, { acknowledged, quiet });
    });
    const differences = await [...this.processes.values()][0].ask('verify');
    if (differences.length > 0) books.problems.push(`verify: ${JSON.stringify(differences)}`);
    const repeated = repeatedSubmissions(readFileSync(this.#submissionsFile, 'utf8').trimEnd().split('\n'));
    if (repeated.length > 0)
      books.problems.push(`${repeated.length} × submitted twice: ${repeated.slice(0, 3).join(', ')}`);
    return { ...books, differences: differences.length };
  }

  /** Resolves with the milliseconds until nothing is left to do but to wait for carriers. */
  untilWorkIsDone(timeoutMs) {
    return this.#untilNoJobs(() => this.now() + SOON_MS, timeoutMs);
  }

  /** Lets the clock pass the report windows of what was cut off, and waits until that is done. */
  async comeToRest(timeoutMs) {
    this.aheadMs += WINDOWS_AHEAD_MS;
    await Promise.all([...this.processes.values()].map((child) => child.ask('clockAhead', this.aheadMs)));
    await this.#untilNoJobs(() => Number.MAX_SAFE_INTEGER, timeoutMs);
  }

  /** The longest a message accepted since then waited for its first attempt. */
  longestWaitMs(since) {
    return this.withDatabase(async (query) => {
      const [{ longest }] = await query(
        `SELECT MAX((steps::json -> 0 ->> 'startedAt')::bigint - created_at) AS longest
         FROM messages WHERE created_at >= $1`,
        [since],
      );
      return Number(longest ?? 0);
    });
  }

  /** Ends everything; the logs are removed unless they are to be read. */
  async stop({ keepLogs }) {
    await Promise.all(
      [...this.processes.values()].filter((child) => !child.isOver()).map((child) => child.stop()),
    );
    await Promise.all([this.postgres.stop(), this.rabbit.stop()]);
    if (!keepLogs) rmSync(this.folder, { recursive: true, force: true });
  }

  #untilNoJobs(dueBefore, timeoutMs) {
    const startedAt = performance.now();
    return this.withDatabase(async (query) => {
      for (;;) {
        const [{ n }] = await query('SELECT COUNT(*) AS n FROM jobs WHERE due_at < $1', [dueBefore()]);
        const waitedMs = performance.now() - startedAt;
        if (Number(n) === 0) return waitedMs;
        if (waitedMs > timeoutMs) throw new Error(`${n} jobs are still left after ${timeoutMs / 1000} s`);
        await sleep(POLL_MS);
      }
    });
  }
}

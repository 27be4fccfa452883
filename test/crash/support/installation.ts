import { mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Child, startChild } from '../../support/child-process.ts';
import type { PrivateServer } from '../../support/private-server.ts';
import { startPrivatePostgres, startPrivateRabbit } from '../../support/services.ts';
import { IS_LEFT } from './jobs-left.ts';
import {
  checkLedger,
  type LedgerCheck,
  type LedgerReport,
  type Query,
  repeatedSubmissions,
} from './ledger-check.ts';
import type { CrashServiceHandlers } from './service-process.ts';
import {
  END_OF_TIME_MS,
  PAST_LATE_WINDOWS_MS,
  PAST_RECEIPT_WINDOWS_MS,
  WORK_DUE_WITHIN_MS,
} from './time-limits.ts';

const POLL_MS = 100;

/** The name of a process: its role and a number. */
export type ProcessName = `${'api' | 'worker'}-${number}`;

/**
 * Several processes of the service on a PostgreSQL and a RabbitMQ of their own, and a connection to the database
 * for the test itself.
 */
export class Installation {
  readonly postgres: PrivateServer;
  readonly rabbit: PrivateServer;
  readonly folder = mkdtempSync(join(tmpdir(), 'barid-installation-'));
  readonly #processes = new Map<ProcessName, Child<CrashServiceHandlers>>();
  readonly #environment: NodeJS.ProcessEnv;
  readonly #output = openSync(join(this.folder, 'service.log'), 'a');
  /** One file of each process that was ever started. */
  readonly #submissionFiles = new Map<ProcessName, string>();
  /** How far the clock of every process is ahead. */
  #aheadMs = 0;

  private constructor(postgres: PrivateServer, rabbit: PrivateServer, environment: NodeJS.ProcessEnv) {
    this.postgres = postgres;
    this.rabbit = rabbit;
    this.#environment = environment;
  }

  /** Starts the servers and then every process at the same moment, on an empty database. `program` as in `startProcess`. */
  static async start(
    names: readonly ProcessName[],
    environment: NodeJS.ProcessEnv = {},
    program?: URL,
  ): Promise<Installation> {
    const [postgres, rabbit] = await Promise.all([startPrivatePostgres(), startPrivateRabbit()]);
    const installation = new Installation(postgres, rabbit, environment);
    await Promise.all(names.map((name) => installation.startProcess(name, program)));
    return installation;
  }

  /** Resolves once the process works. `program` is the service-process of another version. */
  async startProcess(
    name: ProcessName,
    program = new URL('./service-process.js', import.meta.url),
  ): Promise<void> {
    const submissionsFile = join(this.folder, `submissions-${name}`);
    this.#submissionFiles.set(name, submissionsFile);
    const child = await startChild<CrashServiceHandlers>(
      program,
      {
        ROLE: name.split('-')[0],
        DATABASE_URL: this.postgres.url,
        QUEUE_URL: this.rabbit.url,
        CRASH_CLOCK_AHEAD_MS: String(this.#aheadMs),
        CRASH_SUBMISSIONS_FILE: submissionsFile,
        ...this.#environment,
      },
      { output: this.#output },
    );
    this.#processes.set(name, child);
  }

  process(name: ProcessName): Child<CrashServiceHandlers> {
    const child = this.#processes.get(name);
    if (child === undefined) throw new Error(`There is no process ${name}`);
    return child;
  }

  /** Ends the process in good order and forgets it. Resolves with its exit code or the signal that ended it. */
  async stopProcess(name: ProcessName): Promise<number | NodeJS.Signals | null> {
    const child = this.process(name);
    await child.stop();
    this.#processes.delete(name);
    return child.end;
  }

  /** Rejects when a process ended that nobody killed. */
  async assertAllRun(): Promise<void> {
    for (const [name, child] of this.#processes) {
      if (child.isOver()) throw new Error(`${name} ended by itself (${await child.end})`);
    }
  }

  apiPorts(): readonly number[] {
    return [...this.#processes]
      .filter(([name, child]) => name.startsWith('api') && !child.isOver())
      .map(([, { port }]) => port);
  }

  /** Grows with every submission to a channel. */
  submittedBytes(): number {
    return [...this.#submissionFiles.values()].reduce((sum, file) => sum + statSync(file).size, 0);
  }

  /** What the process has submitted to channels, a line for each submission. */
  submissionsOf(name: ProcessName): readonly string[] {
    const file = this.#submissionFiles.get(name);
    if (file === undefined) throw new Error(`There is no process ${name}`);
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  }

  /** The service's own present time. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  async withDatabase<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.postgres.url });
    client.on('error', () => {});
    await client.connect();
    try {
      return await work(async (sql, values = []) => (await client.query(sql, [...values])).rows);
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Makes dead-letter jobs due again, 500 at most; resolves with how many. */
  async redrive(): Promise<number> {
    const [first] = this.#processes.values();
    if (first === undefined) throw new Error('There is no process');
    return first.ask('redrive');
  }

  /** What the rows say, what the service's audit says, and whether a message was submitted twice. */
  async check({ acknowledged, quiet }: LedgerCheck): Promise<LedgerReport> {
    const report = await this.withDatabase(async (query) => {
      await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      return checkLedger(query, { acknowledged, quiet });
    });
    const [first] = this.#processes.values();
    if (first === undefined) throw new Error('There is no process');
    report.problems.push(...(await first.ask('audit', quiet)));
    const repeated = repeatedSubmissions(
      [...this.#submissionFiles.keys()].flatMap((name) => this.submissionsOf(name)),
    );
    if (repeated.length > 0) {
      report.problems.push(`${repeated.length} × submitted twice: ${repeated.slice(0, 3).join(', ')}`);
    }
    return report;
  }

  /** Resolves with the milliseconds until nothing but receipt windows is left to do. */
  untilWorkIsDone(timeoutMs: number): Promise<number> {
    return this.#untilNoJobs(() => this.now() + WORK_DUE_WITHIN_MS, timeoutMs);
  }

  /** Puts the clock of one process ahead of those of the others, until the next `putClocksAhead`. */
  async putClockAhead(name: ProcessName, ms: number): Promise<void> {
    await this.process(name).ask('putClockAhead', this.#aheadMs + ms);
  }

  /** Puts the clocks of all processes ahead by so much more, so that they agree. */
  async putClocksAhead(ms: number): Promise<void> {
    this.#aheadMs += ms;
    await Promise.all(
      [...this.#processes.values()].map((child) => child.ask('putClockAhead', this.#aheadMs)),
    );
  }

  /**
   * Puts the clocks past the receipt windows of what was cut off, and then past the wait that follows those which end late. Waits
   * until that is done.
   */
  async comeToQuiet(timeoutMs: number): Promise<void> {
    await this.putClocksAhead(PAST_RECEIPT_WINDOWS_MS);
    await this.#untilNoJobs(() => this.now(), timeoutMs);
    await this.putClocksAhead(PAST_LATE_WINDOWS_MS - PAST_RECEIPT_WINDOWS_MS);
    await this.#untilNoJobs(() => END_OF_TIME_MS, timeoutMs);
  }

  /** The longest that a message accepted since then waited for its first attempt, in milliseconds. */
  longestWaitMs(since: number): Promise<number> {
    return this.withDatabase(async (query) => {
      const [row] = await query(
        `SELECT MAX((attempts::json -> 0 ->> 'startedAt')::bigint - created_at) AS longest
         FROM messages WHERE created_at >= $1`,
        [since],
      );
      return Number(row?.longest ?? 0);
    });
  }

  /** Ends everything. The logs are removed unless they are to be read. */
  async stop({ keepLogs }: { readonly keepLogs: boolean }): Promise<void> {
    await Promise.all(
      [...this.#processes.values()].filter((child) => !child.isOver()).map((child) => child.stop()),
    );
    await Promise.all([this.postgres.stop(), this.rabbit.stop()]);
    if (!keepLogs) rmSync(this.folder, { recursive: true, force: true });
  }

  #untilNoJobs(dueBefore: () => number, timeoutMs: number): Promise<number> {
    const startedAt = performance.now();
    return this.withDatabase(async (query) => {
      for (;;) {
        const [row] = await query(`SELECT COUNT(*) AS n FROM jobs WHERE due_at < $1 AND ${IS_LEFT}`, [
          dueBefore(),
        ]);
        const jobs = Number(row?.n);
        const waitedMs = performance.now() - startedAt;
        if (jobs === 0) return waitedMs;
        if (waitedMs > timeoutMs) throw new Error(`${jobs} jobs are still left after ${timeoutMs / 1000} s`);
        await sleep(POLL_MS);
      }
    });
  }
}

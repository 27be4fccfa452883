import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { type Child, startChild } from '../../support/child-process.ts';
import { IS_LEFT } from './jobs-left.ts';
import type { CrashServiceHandlers } from './service-process.ts';
import { END_OF_TIME_MS, PAST_LATE_WINDOWS_MS, PAST_RECEIPT_WINDOWS_MS } from './time-limits.ts';

const POLL_MS = 100;

/** The service on one SQLite file, killed and started again on it. */
export class SqliteService {
  readonly folder: string;
  readonly filename: string;
  readonly #output: number;
  #child: Child<CrashServiceHandlers> | null = null;

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `barid-${name}-`));
    this.filename = join(this.folder, 'barid.db');
    this.#output = openSync(join(this.folder, 'service.log'), 'a');
  }

  get child(): Child<CrashServiceHandlers> {
    if (this.#child === null) throw new Error('The service was not started');
    return this.#child;
  }

  /** Where the service listens; empty while it is down. */
  ports(): readonly number[] {
    return this.child.isOver() ? [] : [this.child.port];
  }

  async start(environment: NodeJS.ProcessEnv): Promise<void> {
    this.#child = await startChild<CrashServiceHandlers>(
      new URL('./service-process.js', import.meta.url),
      { DATABASE_URL: `sqlite:${this.filename}`, QUEUE_URL: '', ROLE: 'all', ...environment },
      { output: this.#output },
    );
  }

  async stop(): Promise<void> {
    if (this.#child?.isOver() === false) await this.#child.stop();
  }

  removeFolder(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Reads on a second connection: the service has recovered the file itself by the time this opens it. */
  async read<T>(work: (database: Sqlite.Database) => T): Promise<Awaited<T>> {
    const database = new Sqlite(this.filename, { readonly: true });
    try {
      return await work(database);
    } finally {
      database.close();
    }
  }

  /**
   * Puts the clock, which is ahead already by `aheadMs`, past the receipt windows of what was cut off, and then past the wait that
   * follows those which end late. Resolves with the milliseconds until no job is left.
   */
  async passReceiptWindows(timeoutMs: number, aheadMs = 0): Promise<number> {
    const startedAt = performance.now();
    const pastWindowsMs = aheadMs + PAST_RECEIPT_WINDOWS_MS;
    await this.child.ask('putClockAhead', pastWindowsMs);
    await this.untilNoJobs(() => Date.now() + pastWindowsMs, timeoutMs);
    await this.child.ask('putClockAhead', aheadMs + PAST_LATE_WINDOWS_MS);
    await this.untilNoJobs(() => END_OF_TIME_MS, timeoutMs);
    return performance.now() - startedAt;
  }

  /** Resolves with the milliseconds until no job is due before that instant; rejects when it is not in time. */
  async untilNoJobs(dueBefore: () => number, timeoutMs: number): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      const jobs = await this.read((database) =>
        database
          .prepare<[number], { n: number }>(`SELECT COUNT(*) AS n FROM jobs WHERE due_at < ? AND ${IS_LEFT}`)
          .get(dueBefore()),
      );
      const waitedMs = performance.now() - startedAt;
      if (jobs?.n === 0) return waitedMs;
      if (waitedMs > timeoutMs) throw new Error(`${jobs?.n} jobs are still left after ${timeoutMs / 1000} s`);
      await sleep(POLL_MS);
    }
  }
}

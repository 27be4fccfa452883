import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child, Handlers } from '../../test/support/child-process.ts';
import type { ServiceHandlers } from '../servers/service.ts';
import type { Checkout, ServerName } from './checkout.ts';

/** A row is called lower when it reaches less than this share of the other checkout's. */
const SHARE_OF_OTHER_MIN = 0.95;

/** What is measured, the servers it started, and the verdicts to print at the end. */
export class Bench {
  /** This checkout, and the one it is compared with, if any. */
  readonly checkouts: readonly Checkout[];
  readonly folder = mkdtempSync(join(tmpdir(), 'barid-bench-'));
  readonly #running = new Set<{ stop(): Promise<void> }>();
  readonly #bars: string[] = [];
  readonly #comparisons: string[] = [];

  constructor(checkouts: readonly Checkout[]) {
    this.checkouts = checkouts;
  }

  async open<Served extends Handlers>(
    checkout: Checkout,
    name: ServerName,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<Child<Served>> {
    return this.keep(await checkout.start<Served>(name, { QUEUE_URL: '', ROLE: 'all', ...environment }));
  }

  /** The service on a SQLite file that lasts as long as the bench. */
  openOnSqlite(checkout: Checkout, file: string): Promise<Child<ServiceHandlers>> {
    return this.open(checkout, 'service', { DATABASE_URL: this.sqliteUrl(checkout, file) });
  }

  /** The address of that file. */
  sqliteUrl(checkout: Checkout, file: string): string {
    return `sqlite:${join(this.folder, `${file}-${checkout.id}`, 'barid.db')}`;
  }

  /** Has a server stopped at the end of the bench, unless `close` stops it before. */
  keep<Server extends { stop(): Promise<void> }>(server: Server): Server {
    this.#running.add(server);
    return server;
  }

  async close(servers: readonly { stop(): Promise<void> }[]): Promise<void> {
    for (const server of servers) {
      this.#running.delete(server);
      await server.stop();
    }
  }

  /** Notes whether this checkout reaches a bar that the project has set itself. */
  bar(holds: boolean, bar: string): void {
    this.#bars.push(`${holds ? 'holds ' : 'MISSED'}  ${bar}`);
  }

  /** Notes how much of the other checkout's figure a row reaches. */
  compare(row: string, shareOfOther: number): void {
    const verdict = shareOfOther >= SHARE_OF_OTHER_MIN ? 'holds ' : 'LOWER ';
    this.#comparisons.push(`${verdict}  ${row}: ${shareOfOther.toFixed(2)} of ${this.checkouts[1]?.label}`);
  }

  printVerdicts(): void {
    console.log();
    for (const verdict of [...this.#bars, ...this.#comparisons]) console.log(verdict);
  }

  async stop(): Promise<void> {
    await this.close([...this.#running]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { SimulatedMessage } from '../../src/adapters/simulator/simulator.ts';
import { problemsOf, unfinishedIn } from '../../src/application/billing/audit-ledger.ts';
import type { Clock } from '../../src/application/ports/clock.ts';
import { parseChannels } from '../../src/bootstrap/config/channels-file.ts';
import { type Role, readConfig } from '../../src/bootstrap/config/config.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { EgressConfig } from '../../src/bootstrap/config/egress-config.ts';
import { readSeed, type SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import { Service } from '../../src/bootstrap/service.ts';
import { RecordingLogger } from './recording-logger.ts';

const POOL_SIZE = 4;
const STATEMENT_TIMEOUT_MS = 5_000;
const LOOPBACK = '127.0.0.1';

export interface MemberReply {
  readonly status: number;
  readonly body: unknown;
}

export interface MemberOptions {
  readonly role: Role;
  /** Where this member finds the database, when not where the others do. */
  readonly url?: string;
  readonly statementTimeoutMs?: number;
  /** The group's own, which stands still, when absent. */
  readonly clock?: Clock;
  /** Without it the member has no admin interface. */
  readonly adminToken?: string;
}

interface MemberParts {
  readonly role: Role;
  readonly clock: Clock;
  readonly logger: RecordingLogger;
  readonly port: number;
}

/** One service of a group, as other processes would see it. */
export class Member {
  readonly service: Service;
  readonly role: Role;
  readonly clock: Clock;
  readonly logger: RecordingLogger;
  readonly #port: number;

  constructor(service: Service, { role, clock, logger, port }: MemberParts) {
    this.service = service;
    this.role = role;
    this.clock = clock;
    this.logger = logger;
    this.#port = port;
  }

  /** A GET, or a POST when there is a body. */
  async request(path: string, body?: unknown, apiKey = DEMO_API_KEY): Promise<MemberReply> {
    const response = await fetch(`http://${LOOPBACK}:${this.#port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }
}

/**
 * Services that share one PostgreSQL schema, each with a pool and a queue of its own, as processes would have.
 * Their clock stands still until it is moved.
 */
export class ServiceGroup {
  readonly clock: Clock & { at: number } = {
    at: Date.parse('2030-01-01T00:00:00Z'),
    now() {
      return this.at;
    },
  };
  /** What reached any channel, through any member. */
  readonly submitted: SimulatedMessage[] = [];
  readonly #url: string;
  readonly #seed: SeedFile;
  readonly #channels: unknown;
  readonly #egress: Partial<EgressConfig>;
  readonly #schema = `group_${randomBytes(6).toString('hex')}`;
  readonly #members: Member[] = [];

  /** `channels` is the content of a channels file; live projects have no channel without. */
  constructor(url: string, seed: SeedFile, channels: unknown = {}, egress: Partial<EgressConfig> = {}) {
    this.#url = url;
    this.#seed = seed;
    this.#channels = channels;
    this.#egress = egress;
  }

  /** Starts all of them at the same moment. */
  start<const Options extends readonly MemberOptions[]>(
    members: Options,
  ): Promise<{ readonly [Index in keyof Options]: Member }> {
    const starting = members.map((options) => this.#start(options));
    return Promise.all(starting) as Promise<{ readonly [Index in keyof Options]: Member }>;
  }

  /** Does everything that is due at the present instant, in every member at once. */
  async settle(): Promise<void> {
    do {
      await Promise.all(
        this.#members.map(async ({ service }) => {
          service.roots.wakeSignal.wake();
          await service.idle();
        }),
      );
    } while (await this.#hasDueWork());
  }

  /** Moves the clock, stopping at every instant at which something is due. */
  async advance(ms: number): Promise<void> {
    const target = this.clock.at + ms;
    await this.settle();
    for (
      let next = await this.#nextDueAt();
      next !== null && next <= target;
      next = await this.#nextDueAt()
    ) {
      this.clock.at = Math.max(next, this.clock.at);
      await this.settle();
    }
    this.clock.at = target;
  }

  /** What is wrong with the ledger and the jobs, or not over yet. */
  async problems(): Promise<readonly string[]> {
    const audit = await this.#first().service.roots.auditLedger.execute();
    return [...problemsOf(audit), ...unfinishedIn(audit)];
  }

  /** Runs a query in the group's schema. */
  async rows(sql: string): Promise<readonly Record<string, unknown>[]> {
    const { knex } = this.#first().service.roots.database;
    return (await knex.raw(sql)).rows;
  }

  /** Holds the lock on the account of a project, as an operator may, until the function it resolves with is called. */
  lockAccount(projectId: string): Promise<() => Promise<void>> {
    return this.lock(`SELECT 1 FROM accounts WHERE project_id = '${projectId}' FOR UPDATE`);
  }

  /** The same for the rows that the query locks: there must be some. */
  async lock(sql: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: this.#url, options: `-c search_path=${this.#schema}` });
    await client.connect();
    await client.query('BEGIN');
    const { rows } = await client.query(sql);
    if (rows.length > 0) return () => client.end();
    await client.end();
    throw new Error(`Nothing to lock: ${sql}`);
  }

  /** Stops all of them, and removes the schema: while one works, its transactions and the removal would wait for each other. */
  async dispose(): Promise<void> {
    await Promise.all(this.#members.map(({ service }) => service.stop()));
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(this.#schema)} CASCADE`);
    await client.end();
  }

  async #start({
    role,
    url = this.#url,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    clock = this.clock,
    adminToken,
  }: MemberOptions) {
    const logger = new RecordingLogger();
    const config = readConfig({
      DATABASE_URL: url,
      DATABASE_POOL_SIZE: String(POOL_SIZE),
      DATABASE_STATEMENT_TIMEOUT_MS: String(statementTimeoutMs),
      ROLE: role,
      ...(adminToken === undefined ? {} : { ADMIN_TOKEN: adminToken }),
    });
    if (config.database.kind !== 'postgres') throw new Error('Only PostgreSQL is shared');
    const service = new Service({
      ...config,
      database: { ...config.database, schema: this.#schema },
      channels: parseChannels(JSON.stringify(this.#channels), process.env),
      egress: { ...config.egress, ...this.#egress },
      secretKey: Buffer.alloc(32, 1),
      clock,
      logger,
      watchesClock: false,
      seed: readSeed(this.#seed),
      onSubmission: (message) => this.submitted.push(message),
    });
    await service.start();
    const member = new Member(service, { role, clock, logger, port: await service.listen(0, LOOPBACK) });
    this.#members.push(member);
    return member;
  }

  /** By the clocks of those that do jobs. */
  async #hasDueWork(): Promise<boolean> {
    const workers = this.#members.filter(({ role }) => role !== 'api');
    const areDue = await Promise.all(
      workers.map(async ({ service: { roots }, clock }) => {
        const job = await roots.unitOfWork.read((stores) => stores.jobs.nextDue());
        const next = Math.min(
          job?.dueAt ?? Number.POSITIVE_INFINITY,
          roots.simulator.nextDueAt() ?? Number.POSITIVE_INFINITY,
        );
        return next <= clock.now();
      }),
    );
    return areDue.includes(true);
  }

  async #nextDueAt(): Promise<number | null> {
    const due = await Promise.all(
      this.#members.flatMap(({ service: { roots } }) => [
        roots.unitOfWork.read(async (stores) => (await stores.jobs.nextDue())?.dueAt ?? null),
        roots.simulator.nextDueAt(),
      ]),
    );
    const instants = due.filter((instant) => instant !== null);
    return instants.length === 0 ? null : Math.min(...instants);
  }

  #first(): Member {
    const [first] = this.#members;
    if (first === undefined) throw new Error('The group has no members');
    return first;
  }
}

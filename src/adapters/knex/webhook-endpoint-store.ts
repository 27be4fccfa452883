import type { WebhookEndpointStore } from '../../application/ports/stores.ts';
import { MS_PER_DAY } from '../../domain/shared/durations.ts';
import { type EndpointHealth, HEALTHY } from '../../domain/webhooks/endpoint-health.ts';
import type { Insert, Row, Update } from './connection.ts';
import type { Session } from './session.ts';

const MAKE = {
  table: 'webhook_endpoints',
  columns: { endpoint: 'text', health: 'text', touched_at: 'bigint' },
  orderBy: 'endpoint',
  onConflict: 'ON CONFLICT (endpoint) DO NOTHING',
} as const satisfies Insert<string>;

const SAVE = {
  table: 'webhook_endpoints',
  key: { endpoint: 'text' },
  columns: { health: 'text', touched_at: 'bigint' },
  mode: 'set',
} as const satisfies Update<string, string>;

/** An endpoint nobody posted to for so long may be forgotten; longer than any window it may be resting in. */
const UNTOUCHED_MS_MAX = MS_PER_DAY;
/** Forgotten at most for each new one, so that the table cannot grow for ever. */
const SWEPT_PER_MADE = 2;

export class KnexWebhookEndpointStore implements WebhookEndpointStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async read(endpoints: readonly string[]): Promise<ReadonlyMap<string, EndpointHealth>> {
    if (endpoints.length === 0) return new Map();
    return byEndpoint(
      await this.#session.query('SELECT * FROM webhook_endpoints WHERE endpoint = ANY(?)', [endpoints]),
    );
  }

  async lock(endpoints: readonly string[], at: number): Promise<ReadonlyMap<string, EndpointHealth>> {
    const select = 'SELECT * FROM webhook_endpoints WHERE endpoint = ANY(?) ORDER BY endpoint FOR UPDATE';
    const known = byEndpoint(await this.#session.query(select, [endpoints]));
    const unknown = endpoints.filter((endpoint) => !known.has(endpoint));
    if (unknown.length === 0) return known;
    await this.#session.insert(
      MAKE,
      unknown.map((endpoint) => ({ endpoint, health: JSON.stringify(HEALTHY), touched_at: at })),
    );
    const all = byEndpoint(await this.#session.query(select, [endpoints]));
    // Last: whoever holds what was swept must not wait for anybody.
    await this.#sweepOthers(endpoints, at, unknown.length * SWEPT_PER_MADE);
    return all;
  }

  async save(health: ReadonlyMap<string, EndpointHealth>, at: number): Promise<void> {
    await this.#session.update(
      SAVE,
      [...health].map(([endpoint, state]) => ({ endpoint, health: JSON.stringify(state), touched_at: at })),
    );
  }

  /** Those at hand are about to be saved, however old they are. */
  async #sweepOthers(atHand: readonly string[], at: number, limit: number): Promise<void> {
    await this.#session.execute(
      `DELETE FROM webhook_endpoints WHERE endpoint IN (
         SELECT endpoint FROM webhook_endpoints WHERE touched_at < ? AND NOT (endpoint = ANY(?))
         ORDER BY touched_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [at - UNTOUCHED_MS_MAX, atHand, limit],
    );
  }
}

function byEndpoint(rows: readonly Row[]): ReadonlyMap<string, EndpointHealth> {
  return new Map(
    rows.map((row) => [row.endpoint as string, JSON.parse(row.health as string) as EndpointHealth]),
  );
}

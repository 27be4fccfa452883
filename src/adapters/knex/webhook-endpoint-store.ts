import type { WebhookEndpointStore } from '../../application/ports/stores.ts';
import { type EndpointHealth, HEALTH_KEPT_MS, HEALTHY } from '../../domain/webhooks/endpoint-health.ts';
import type { Insert, Row, Update } from './connection.ts';
import type { Session } from './session.ts';

const MAKE = {
  table: 'webhook_endpoints',
  columns: { lane: 'text', health: 'text', touched_at: 'bigint' },
  orderBy: 'lane',
  onConflict: 'ON CONFLICT (lane) DO NOTHING',
} as const satisfies Insert<string>;

const SAVE = {
  table: 'webhook_endpoints',
  key: { lane: 'text' },
  columns: { health: 'text', touched_at: 'bigint' },
  mode: 'set',
} as const satisfies Update<string, string>;

/** Forgotten at most for each new one, so that the table cannot grow for ever. */
const SWEPT_PER_MADE = 2;

export class KnexWebhookEndpointStore implements WebhookEndpointStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async read(laneKeys: readonly string[]): Promise<ReadonlyMap<string, EndpointHealth>> {
    if (laneKeys.length === 0) return new Map();
    return byLane(
      await this.#session.query('SELECT * FROM webhook_endpoints WHERE lane = ANY(?)', [laneKeys]),
    );
  }

  async lock(laneKeys: readonly string[], at: number): Promise<ReadonlyMap<string, EndpointHealth>> {
    const select = 'SELECT * FROM webhook_endpoints WHERE lane = ANY(?) ORDER BY lane FOR UPDATE';
    const known = byLane(await this.#session.query(select, [laneKeys]));
    const unknown = laneKeys.filter((lane) => !known.has(lane));
    if (unknown.length === 0) return known;
    await this.#session.insert(
      MAKE,
      unknown.map((lane) => ({ lane, health: JSON.stringify(HEALTHY), touched_at: at })),
    );
    const all = byLane(await this.#session.query(select, [laneKeys]));
    // Last: whoever holds what was swept must not wait for anybody.
    await this.#sweepOthers(laneKeys, at, unknown.length * SWEPT_PER_MADE);
    return all;
  }

  async save(health: ReadonlyMap<string, EndpointHealth>, at: number): Promise<void> {
    await this.#session.update(
      SAVE,
      [...health].map(([lane, state]) => ({ lane, health: JSON.stringify(state), touched_at: at })),
    );
  }

  /** Those at hand are about to be saved, however old they are. */
  async #sweepOthers(atHand: readonly string[], at: number, limit: number): Promise<void> {
    await this.#session.execute(
      `DELETE FROM webhook_endpoints WHERE lane IN (
         SELECT lane FROM webhook_endpoints WHERE touched_at < ? AND NOT (lane = ANY(?))
         ORDER BY touched_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [at - HEALTH_KEPT_MS, atHand, limit],
    );
  }
}

function byLane(rows: readonly Row[]): ReadonlyMap<string, EndpointHealth> {
  return new Map(rows.map((row) => [row.lane as string, JSON.parse(row.health as string) as EndpointHealth]));
}

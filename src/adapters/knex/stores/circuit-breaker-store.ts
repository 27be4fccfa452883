import type { CircuitBreakerStore } from '../../../application/ports/stores/webhook-stores.ts';
import { SWEPT_PER_ADDED } from '../../../application/swept-per-added.ts';
import { type CircuitBreaker, CLOSED_CIRCUIT } from '../../../domain/shared/circuit-breaker.ts';
import { BREAKER_LIFETIME_MS } from '../../../domain/webhooks/destination.ts';
import type { Insert, Row, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'webhook_circuit_breakers',
  columns: { destination: 'text', state: 'text', touched_at: 'bigint' },
  orderBy: 'destination',
  onConflict: 'ON CONFLICT (destination) DO NOTHING',
} as const satisfies Insert<string>;

const SAVE = {
  table: 'webhook_circuit_breakers',
  key: { destination: 'text' },
  columns: { state: 'text', touched_at: 'bigint' },
  mode: 'set',
} as const satisfies Update<string, string>;

const READ = 'SELECT destination, state FROM webhook_circuit_breakers WHERE destination = ANY(?)';

const LOCK = `${READ} ORDER BY destination FOR UPDATE`;

export class SqlCircuitBreakerStore implements CircuitBreakerStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async read(destinationKeys: readonly string[]): Promise<ReadonlyMap<string, CircuitBreaker>> {
    if (destinationKeys.length === 0) return new Map();
    return byDestination(await this.#session.query(READ, [destinationKeys]));
  }

  async lock(destinationKeys: readonly string[], at: number): Promise<ReadonlyMap<string, CircuitBreaker>> {
    const known = byDestination(await this.#session.query(LOCK, [destinationKeys]));
    const unknown = destinationKeys.filter((destination) => !known.has(destination));
    if (unknown.length === 0) return known;
    await this.#session.insert(
      INSERT,
      unknown.map((destination) => ({ destination, state: JSON.stringify(CLOSED_CIRCUIT), touched_at: at })),
    );
    const all = byDestination(await this.#session.query(LOCK, [destinationKeys]));
    // Last: a transaction that has locked swept rows must not wait for another lock.
    await this.#sweepOthers(destinationKeys, at, unknown.length * SWEPT_PER_ADDED);
    return all;
  }

  async save(breakers: ReadonlyMap<string, CircuitBreaker>, at: number): Promise<void> {
    await this.#session.update(
      SAVE,
      [...breakers].map(([destination, state]) => ({
        destination,
        state: JSON.stringify(state),
        touched_at: at,
      })),
    );
  }

  async countOpen(limit: number): Promise<number> {
    const [row] = await this.#session.query(
      `SELECT COUNT(*) AS total FROM (
         SELECT state FROM webhook_circuit_breakers ORDER BY touched_at DESC LIMIT ?) AS latest
       WHERE state NOT LIKE '%"openUntil":null%'`,
      [limit],
    );
    return row?.total as number;
  }

  /** Those at hand are about to be saved, however old they are. */
  async #sweepOthers(atHand: readonly string[], at: number, limit: number): Promise<void> {
    await this.#session.execute(
      `DELETE FROM webhook_circuit_breakers WHERE destination IN (
         SELECT destination FROM webhook_circuit_breakers WHERE touched_at < ? AND NOT (destination = ANY(?))
         ORDER BY touched_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [at - BREAKER_LIFETIME_MS, atHand, limit],
    );
  }
}

function byDestination(rows: readonly Row[]): ReadonlyMap<string, CircuitBreaker> {
  return new Map(
    rows.map((row) => [row.destination as string, JSON.parse(row.state as string) as CircuitBreaker]),
  );
}

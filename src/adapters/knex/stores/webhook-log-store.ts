import type {
  DestinationCircuit,
  LoggedEvent,
  LogQuery,
  WebhookLogStore,
} from '../../../application/ports/stores/webhook-log-store.ts';
import type { CircuitBreaker } from '../../../domain/shared/circuit-breaker.ts';
import { firstIdAt, LAST_ID } from '../../../domain/shared/id-time.ts';
import { destinationOfKey, type WebhookDestination } from '../../../domain/webhooks/destination.ts';
import type { WebhookEvent } from '../../../domain/webhooks/webhook-event.ts';
import type { Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const COLUMNS = `id, kind, project_id, ordering_key, phone_number_id, endpoint, state, attempts, first_attempt_at,
  next_attempt_at, last_error, created_at`;

const BY_IDS = `SELECT ${COLUMNS} FROM webhook_events WHERE id = ANY(?) ORDER BY id`;

const NEWEST = `
  SELECT ${COLUMNS} FROM webhook_events WHERE id >= ? AND id < ?
  ORDER BY id DESC LIMIT ?`;

const OF_PHONE_NUMBER = `
  SELECT ${COLUMNS} FROM webhook_events
  WHERE phone_number_id = ? AND created_at >= ? AND created_at <= ? AND (created_at, id) < (?, ?)
  ORDER BY created_at DESC, id DESC LIMIT ?`;

const DISCARDED = `
  SELECT ${COLUMNS} FROM webhook_events
  WHERE project_id = ? AND endpoint = ? AND state = 'discarded' AND id < ?
  ORDER BY id DESC LIMIT ?`;

/** An event that was superseded was attempted before: so no ended event is missing. */
const OF_ORDERING_KEYS = `
  SELECT ${COLUMNS}, body FROM webhook_events WHERE ordering_key = ANY(?) AND is_open = 1
  UNION
  SELECT ${COLUMNS}, body FROM webhook_events
  WHERE id IN (SELECT event_id FROM webhook_attempts WHERE webhook_attempts.ordering_key = ANY(?))
  ORDER BY id`;

const CIRCUITS = `
  SELECT destination, state FROM webhook_circuit_breakers WHERE destination > ? ORDER BY destination LIMIT ?`;

export class SqlWebhookLogStore implements WebhookLogStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async byIds(ids: readonly string[]): Promise<readonly LoggedEvent[]> {
    return (await this.#session.query(BY_IDS, [ids])).map(fromRow);
  }

  async newest({ whatsappPhoneId, from, to, after, limit }: LogQuery): Promise<readonly LoggedEvent[]> {
    if (whatsappPhoneId !== null) {
      const { createdAt, id } = after ?? { createdAt: to + 1, id: '' };
      const values = [whatsappPhoneId, from, to, createdAt, id, limit];
      return (await this.#session.query(OF_PHONE_NUMBER, values)).map(fromRow);
    }
    const end = firstIdAt(to + 1);
    const last = after === null || after.id > end ? end : after.id;
    return (await this.#session.query(NEWEST, [firstIdAt(from), last, limit])).map(fromRow);
  }

  async discarded(
    { projectId, endpoint }: WebhookDestination,
    before: string | null,
    limit: number,
  ): Promise<readonly LoggedEvent[]> {
    const rows = await this.#session.query(DISCARDED, [projectId, endpoint, before ?? LAST_ID, limit]);
    return rows.map(fromRow);
  }

  async ofOrderingKeys(
    orderingKeys: readonly string[],
  ): Promise<readonly (LoggedEvent & Pick<WebhookEvent, 'body'>)[]> {
    const rows = await this.#session.query(OF_ORDERING_KEYS, [orderingKeys, orderingKeys]);
    return rows.map((row) => ({ ...fromRow(row), body: row.body as string }));
  }

  async circuits(after: string | null, limit: number): Promise<readonly DestinationCircuit[]> {
    const rows = await this.#session.query(CIRCUITS, [after ?? '', limit]);
    return rows.map((row) => ({
      ...destinationOfKey(row.destination as string),
      breaker: JSON.parse(row.state as string) as CircuitBreaker,
    }));
  }
}

function fromRow(row: Row): LoggedEvent {
  return {
    id: row.id as string,
    kind: row.kind as LoggedEvent['kind'],
    projectId: row.project_id as string,
    orderingKey: row.ordering_key as string,
    whatsappPhoneId: row.phone_number_id as string | null,
    endpoint: row.endpoint as string,
    state: row.state as LoggedEvent['state'],
    attempts: row.attempts as number,
    firstAttemptAt: row.first_attempt_at as number | null,
    nextAttemptAt: row.next_attempt_at as number | null,
    lastError: row.last_error as string | null,
    createdAt: row.created_at as number,
  };
}

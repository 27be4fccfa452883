import type { WebhookAttemptStore } from '../../../application/ports/stores/webhook-attempt-store.ts';
import type { WebhookAttempt } from '../../../domain/webhooks/webhook-attempt.ts';
import { type BatchQuery, columnNames, type Insert, type Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'webhook_attempts',
  columns: {
    ordering_key: 'text',
    event_id: 'text',
    attempt_number: 'bigint',
    started_at: 'bigint',
    duration_ms: 'bigint',
    status: 'bigint',
    error: 'text',
    response: 'text',
  },
  orderBy: 'ordering_key',
  onConflict: 'ON CONFLICT (ordering_key, event_id, attempt_number) DO NOTHING',
} as const satisfies Insert<string>;

const OF_KEY = {
  columns: { ordering_key: 'text', most: 'bigint' },
  select: `
    SELECT ${columnNames(INSERT.columns)} FROM webhook_attempts WHERE webhook_attempts.ordering_key = :ordering_key
    ORDER BY event_id DESC, attempt_number DESC LIMIT :most`,
} as const satisfies BatchQuery<string>;

const NEWEST = {
  columns: { ordering_key: 'text' },
  select: `
    SELECT event_id FROM webhook_attempts WHERE webhook_attempts.ordering_key = :ordering_key
    ORDER BY event_id DESC LIMIT 1`,
} as const satisfies BatchQuery<string>;

export class SqlWebhookAttemptStore implements WebhookAttemptStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(attempts: readonly WebhookAttempt[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      attempts.map((attempt) => ({
        ordering_key: attempt.orderingKey,
        event_id: attempt.eventId,
        attempt_number: attempt.attemptNumber,
        started_at: attempt.startedAt,
        duration_ms: attempt.durationMs,
        status: attempt.status,
        error: attempt.error,
        response: attempt.response,
      })),
    );
  }

  async ofOrderingKeys(
    orderingKeys: readonly string[],
    limit: number,
  ): Promise<readonly (readonly WebhookAttempt[])[]> {
    const found = await this.#session.batchQuery(
      OF_KEY,
      orderingKeys.map((orderingKey) => ({ ordering_key: orderingKey, most: limit })),
    );
    return found.map((rows) => rows.map(fromRow));
  }

  async newestEvents(orderingKeys: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = await this.#session.batchQuery(
      NEWEST,
      orderingKeys.map((orderingKey) => ({ ordering_key: orderingKey })),
    );
    return new Map(
      orderingKeys.flatMap((orderingKey, index) => {
        const eventId = found[index]?.[0]?.event_id;
        return eventId === undefined ? [] : [[orderingKey, eventId as string] as const];
      }),
    );
  }
}

function fromRow(row: Row): WebhookAttempt {
  return {
    orderingKey: row.ordering_key as string,
    eventId: row.event_id as string,
    attemptNumber: row.attempt_number as number,
    startedAt: row.started_at as number,
    durationMs: row.duration_ms as number,
    status: row.status as number | null,
    error: row.error as string | null,
    response: row.response as string | null,
  };
}

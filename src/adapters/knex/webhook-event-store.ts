import type { WebhookEventStore } from '../../application/ports/stores.ts';
import { isOpen, type WebhookEvent, type WebhookState } from '../../domain/webhooks/webhook-event.ts';
import type { Insert, Row, RowOf, Update } from './connection.ts';
import type { Session } from './session.ts';

const CHANGING_COLUMNS = {
  state: 'text',
  is_open: 'bigint',
  attempts: 'bigint',
  first_attempt_at: 'bigint',
  next_attempt_at: 'bigint',
  last_error: 'text',
  turn: 'bigint',
} as const;

const INSERT = {
  table: 'webhook_events',
  columns: {
    id: 'text',
    kind: 'text',
    project_id: 'text',
    subject: 'text',
    phone_number_id: 'text',
    url: 'text',
    endpoint: 'text',
    secret: 'text',
    body: 'text',
    created_at: 'bigint',
    ...CHANGING_COLUMNS,
  },
  orderBy: 'id',
} as const satisfies Insert<string>;

const SAVE = {
  table: 'webhook_events',
  key: { id: 'text' },
  columns: CHANGING_COLUMNS,
  mode: 'set',
} as const satisfies Update<string, string>;

export class KnexWebhookEventStore implements WebhookEventStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(events: readonly WebhookEvent[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      events.map((event) => Object.assign(unchangingColumns(event), changingColumns(event))),
    );
  }

  byIds(ids: readonly string[]): Promise<readonly WebhookEvent[]> {
    return this.#select('SELECT * FROM webhook_events WHERE id = ANY(?) ORDER BY id', ids);
  }

  lockOpen(subjects: readonly string[]): Promise<readonly WebhookEvent[]> {
    return this.#select(
      'SELECT * FROM webhook_events WHERE subject = ANY(?) AND is_open = 1 ORDER BY id FOR UPDATE',
      subjects,
    );
  }

  lock(ids: readonly string[]): Promise<readonly WebhookEvent[]> {
    return this.#select('SELECT * FROM webhook_events WHERE id = ANY(?) ORDER BY id FOR UPDATE', ids);
  }

  async save(events: readonly WebhookEvent[]): Promise<void> {
    await this.#session.update(SAVE, events.map(changingColumns));
  }

  async ofPhoneNumber(phoneNumberId: string, since: number, limit: number): Promise<readonly WebhookEvent[]> {
    const rows = await this.#session.query(
      `SELECT * FROM webhook_events WHERE phone_number_id = ? AND created_at > ?
       ORDER BY created_at DESC, id DESC LIMIT ?`,
      [phoneNumberId, since, limit],
    );
    return rows.map(fromRow);
  }

  async sweep(before: number, limit: number): Promise<number> {
    return this.#session.execute(
      `DELETE FROM webhook_events WHERE id IN (
         SELECT id FROM webhook_events WHERE created_at < ? AND is_open = 0
         ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [before, limit],
    );
  }

  async #select(sql: string, values: readonly string[]): Promise<readonly WebhookEvent[]> {
    if (values.length === 0) return [];
    const rows = await this.#session.query(sql, [values]);
    return rows.map(fromRow);
  }
}

function unchangingColumns(
  event: WebhookEvent,
): RowOf<Exclude<keyof typeof INSERT.columns, keyof typeof CHANGING_COLUMNS | 'id'>> {
  return {
    kind: event.kind,
    project_id: event.projectId,
    subject: event.subject,
    phone_number_id: event.phoneNumberId,
    url: event.url,
    endpoint: event.endpoint,
    secret: event.secret,
    body: event.body,
    created_at: event.createdAt,
  };
}

function changingColumns(event: WebhookEvent): RowOf<keyof typeof CHANGING_COLUMNS | 'id'> {
  return {
    id: event.id,
    state: event.state,
    is_open: isOpen(event) ? 1 : 0,
    attempts: event.attempts,
    first_attempt_at: event.firstAttemptAt,
    next_attempt_at: event.nextAttemptAt,
    last_error: event.lastError,
    turn: event.turn,
  };
}

function fromRow(row: Row): WebhookEvent {
  return {
    id: row.id as string,
    kind: row.kind as WebhookEvent['kind'],
    projectId: row.project_id as string,
    subject: row.subject as string,
    phoneNumberId: row.phone_number_id as string | null,
    url: row.url as string,
    endpoint: row.endpoint as string,
    secret: row.secret as string | null,
    body: row.body as string,
    state: row.state as WebhookState,
    attempts: row.attempts as number,
    firstAttemptAt: row.first_attempt_at as number | null,
    nextAttemptAt: row.next_attempt_at as number | null,
    lastError: row.last_error as string | null,
    createdAt: row.created_at as number,
    turn: row.turn as number,
  };
}

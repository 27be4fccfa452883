import type {
  DueEventsQuery,
  NumberOfProject,
  WebhookEventStore,
} from '../../../application/ports/stores/webhook-stores.ts';
import type { SealedSecret } from '../../../domain/shared/sealed-secret.ts';
import type { WebhookDestination } from '../../../domain/webhooks/destination.ts';
import { isOpen, type WebhookEvent, type WebhookState } from '../../../domain/webhooks/webhook-event.ts';
import {
  type BatchQuery,
  columnNames,
  type Insert,
  type Row,
  type RowOf,
  type VersionedUpdate,
} from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const PROGRESS_COLUMNS = {
  state: 'text',
  attempts: 'bigint',
  first_attempt_at: 'bigint',
  next_attempt_at: 'bigint',
  last_error: 'text',
} as const;

const CHANGING_COLUMNS = { ...PROGRESS_COLUMNS, is_open: 'bigint' } as const;

const DESTINATION_COLUMNS = { project_id: 'text', endpoint: 'text' } as const;

/** What `fromRow` reads of a row. */
const EVENT_COLUMNS = {
  id: 'text',
  kind: 'text',
  ordering_key: 'text',
  phone_number_id: 'text',
  url: 'text',
  secret: 'text',
  body: 'text',
  created_at: 'bigint',
  version: 'bigint',
  ...PROGRESS_COLUMNS,
} as const;

const INSERT = {
  table: 'webhook_events',
  columns: { ...DESTINATION_COLUMNS, ...EVENT_COLUMNS, ...CHANGING_COLUMNS },
  orderBy: 'ordering_key',
  onConflict: `ON CONFLICT (ordering_key) WHERE kind = 'inbound' DO NOTHING`,
} as const satisfies Insert<string>;

const SAVE = {
  table: 'webhook_events',
  key: { id: 'text', version: 'bigint' },
  version: 'version',
  columns: CHANGING_COLUMNS,
} as const satisfies VersionedUpdate<string, string>;

const SAVE_WITH_ADDRESS = {
  ...SAVE,
  columns: { ...CHANGING_COLUMNS, url: 'text', endpoint: 'text', secret: 'text' },
} as const satisfies VersionedUpdate<string, string>;

/** The key itself says the destination. */
const DUE = {
  columns: { ...DESTINATION_COLUMNS, now: 'bigint', after_at: 'bigint', after_id: 'text', most: 'bigint' },
  select: `
    SELECT ${columnNames(EVENT_COLUMNS)} FROM webhook_events
    WHERE webhook_events.project_id = :project_id AND webhook_events.endpoint = :endpoint
      AND next_attempt_at <= :now AND (next_attempt_at, id) > (:after_at, :after_id)
    ORDER BY next_attempt_at, id LIMIT :most`,
} as const satisfies BatchQuery<string>;

const NEXT_DUE_AT = {
  columns: DESTINATION_COLUMNS,
  select: `
    SELECT MIN(next_attempt_at) AS due_at FROM webhook_events
    WHERE webhook_events.project_id = :project_id AND webhook_events.endpoint = :endpoint
      AND next_attempt_at IS NOT NULL`,
} as const satisfies BatchQuery<string>;

const COLUMNS = columnNames({ ...DESTINATION_COLUMNS, ...EVENT_COLUMNS });

const LOCK_OPEN = `
  SELECT ${COLUMNS} FROM webhook_events WHERE ordering_key = ANY(?) AND is_open = 1 ORDER BY id FOR UPDATE`;

const LOCK = `SELECT ${COLUMNS} FROM webhook_events WHERE id = ANY(?) ORDER BY id FOR UPDATE`;

const OPEN_OF_NUMBER = `
  SELECT ${COLUMNS} FROM webhook_events
  WHERE phone_number_id = ? AND project_id = ? AND is_open = 1 AND id > ?
  ORDER BY id LIMIT ? FOR UPDATE`;

const OF_PROJECT = `
  SELECT ${COLUMNS} FROM webhook_events WHERE id > ? AND id <= ? AND project_id = ? ORDER BY id LIMIT ?`;

export class SqlWebhookEventStore implements WebhookEventStore {
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

  lockOpen(orderingKeys: readonly string[]): Promise<readonly WebhookEvent[]> {
    return this.#select(LOCK_OPEN, orderingKeys);
  }

  lock(ids: readonly string[]): Promise<readonly WebhookEvent[]> {
    return this.#select(LOCK, ids);
  }

  async due(keys: readonly DueEventsQuery[]): Promise<readonly (readonly WebhookEvent[])[]> {
    const found = await this.#session.batchQuery(
      DUE,
      keys.map(({ projectId, endpoint, now, after, limit }) => ({
        project_id: projectId,
        endpoint,
        now,
        after_at: after?.nextAttemptAt ?? -1,
        after_id: after?.id ?? '',
        most: limit,
      })),
    );
    return keys.map((key, index) => (found[index] ?? []).map((row) => fromRow(row, key)));
  }

  async nextDueAt(destinations: readonly WebhookDestination[]): Promise<readonly (number | null)[]> {
    const found = await this.#session.batchQuery(
      NEXT_DUE_AT,
      destinations.map(({ projectId, endpoint }) => ({ project_id: projectId, endpoint })),
    );
    return found.map(([row]) => (row?.due_at ?? null) as number | null);
  }

  async save(events: readonly WebhookEvent[]): Promise<readonly WebhookEvent[]> {
    return changedOf(events, await this.#session.updateVersioned(SAVE, events.map(changingColumns)));
  }

  async saveWithAddress(events: readonly WebhookEvent[]): Promise<readonly WebhookEvent[]> {
    const rows = events.map((event) =>
      Object.assign(changingColumns(event), {
        url: event.url,
        endpoint: event.endpoint,
        secret: event.secret,
      }),
    );
    return changedOf(events, await this.#session.updateVersioned(SAVE_WITH_ADDRESS, rows));
  }

  async lockOpenOfNumber(
    { projectId, whatsappPhoneId }: NumberOfProject,
    after: string,
    limit: number,
  ): Promise<readonly WebhookEvent[]> {
    const rows = await this.#session.query(OPEN_OF_NUMBER, [whatsappPhoneId, projectId, after, limit]);
    return rows.map((row) => fromRow(row, destinationOf(row)));
  }

  async ofProject(
    projectId: string,
    { after, last }: { readonly after: string; readonly last: string },
    limit: number,
  ): Promise<readonly WebhookEvent[]> {
    const rows = await this.#session.query(OF_PROJECT, [after, last, projectId, limit]);
    return rows.map((row) => fromRow(row, destinationOf(row)));
  }

  async idBehind(after: string, count: number): Promise<string | null> {
    const [row] = await this.#session.query(
      'SELECT id FROM webhook_events WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?',
      [after, count - 1],
    );
    return (row?.id ?? null) as string | null;
  }

  async #select(sql: string, values: readonly string[]): Promise<readonly WebhookEvent[]> {
    if (values.length === 0) return [];
    const rows = await this.#session.query(sql, [values]);
    return rows.map((row) => fromRow(row, destinationOf(row)));
  }
}

/** Those that were changed, with their new version. */
function changedOf(events: readonly WebhookEvent[], isChanged: readonly boolean[]): readonly WebhookEvent[] {
  return events
    .filter((_, index) => isChanged[index])
    .map((event) => ({ ...event, version: event.version + 1 }));
}

function unchangingColumns(
  event: WebhookEvent,
): RowOf<Exclude<keyof typeof INSERT.columns, keyof typeof CHANGING_COLUMNS | 'id' | 'version'>> {
  return {
    kind: event.kind,
    project_id: event.projectId,
    ordering_key: event.orderingKey,
    phone_number_id: event.whatsappPhoneId,
    url: event.url,
    endpoint: event.endpoint,
    secret: event.secret,
    body: event.body,
    created_at: event.createdAt,
  };
}

function changingColumns(event: WebhookEvent): RowOf<keyof typeof CHANGING_COLUMNS | 'id' | 'version'> {
  return {
    id: event.id,
    state: event.state,
    is_open: isOpen(event) ? 1 : 0,
    attempts: event.attempts,
    first_attempt_at: event.firstAttemptAt,
    next_attempt_at: event.nextAttemptAt,
    last_error: event.lastError,
    version: event.version,
  };
}

function destinationOf(row: Row): WebhookDestination {
  return { projectId: row.project_id as string, endpoint: row.endpoint as string };
}

function fromRow(row: Row, { projectId, endpoint }: WebhookDestination): WebhookEvent {
  return {
    id: row.id as string,
    kind: row.kind as WebhookEvent['kind'],
    projectId,
    orderingKey: row.ordering_key as string,
    whatsappPhoneId: row.phone_number_id as string | null,
    url: row.url as string,
    endpoint,
    secret: row.secret as SealedSecret | null,
    body: row.body as string,
    state: row.state as WebhookState,
    attempts: row.attempts as number,
    firstAttemptAt: row.first_attempt_at as number | null,
    nextAttemptAt: row.next_attempt_at as number | null,
    lastError: row.last_error as string | null,
    createdAt: row.created_at as number,
    version: row.version as number,
  };
}

import type { AuditLogStore, AuditQuery } from '../../../application/ports/stores/audit-log-store.ts';
import type { AuditAction, AuditedFields, AuditRecord } from '../../../domain/audit/audit-record.ts';
import type { Actor } from '../../../domain/shared/actor.ts';
import type { Insert, Row, Value } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'audit_records',
  columns: {
    id: 'text',
    at: 'bigint',
    actor: 'text',
    action: 'text',
    project_id: 'text',
    before_change: 'text',
    after_change: 'text',
  },
  orderBy: 'id',
} as const satisfies Insert<string>;

export class SqlAuditLogStore implements AuditLogStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(records: readonly AuditRecord[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      records.map(({ id, at, actor, action, projectId, before, after }) => ({
        id,
        at,
        actor,
        action,
        project_id: projectId,
        before_change: before === null ? null : JSON.stringify(before),
        after_change: after === null ? null : JSON.stringify(after),
      })),
    );
  }

  async list({ projectId, before, limit }: AuditQuery): Promise<readonly AuditRecord[]> {
    const rows = await this.#session.select((knex) =>
      knex('audit_records')
        .modify((query) => {
          if (projectId !== null) query.where({ project_id: projectId });
          if (before !== null) query.where('id', '<', before);
        })
        .select(Object.keys(INSERT.columns))
        .orderBy('id', 'desc')
        .limit(limit),
    );
    return rows.map(fromRow);
  }
}

function fromRow(row: Row): AuditRecord {
  return {
    id: row.id as string,
    at: row.at as number,
    actor: row.actor as Actor,
    action: row.action as AuditAction,
    projectId: row.project_id as string | null,
    before: fieldsOf(row.before_change ?? null),
    after: fieldsOf(row.after_change ?? null),
  };
}

function fieldsOf(text: Value): AuditedFields | null {
  return text === null ? null : (JSON.parse(text as string) as AuditedFields);
}

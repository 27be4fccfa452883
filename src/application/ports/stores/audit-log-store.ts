import type { AuditRecord } from '../../../domain/audit/audit-record.ts';

/** Which records a list has: those of a project, or all with null. */
export interface AuditQuery {
  readonly projectId: string | null;
  /** Only records with smaller ids; from the newest with null. */
  readonly before: string | null;
  readonly limit: number;
}

/** The changes of operators. There is no way to change or remove one. */
export interface AuditLogStore {
  /** Fails the unit on an id that exists. */
  insert(records: readonly AuditRecord[]): Promise<void>;
  /** The newest first. */
  list(query: AuditQuery): Promise<readonly AuditRecord[]>;
}

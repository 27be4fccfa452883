import type { AuditAction, AuditedFields } from '../../domain/audit/audit-record.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Stores } from '../ports/stores.ts';

/** Whose change it is, its name in the audit log, and when it is made. */
export interface OperatorChange {
  readonly id: string;
  readonly actor: Actor;
  readonly at: number;
}

/** The change that begins now. */
export function newChange(
  { clock, ids }: { readonly clock: Clock; readonly ids: IdSource },
  actor: Actor,
): OperatorChange {
  const at = clock.now();
  return { id: ids.hex24(at), actor, at };
}

/** Adds the record of a change, in the transaction of the change. */
export async function recordChange(
  stores: Pick<Stores, 'auditLog'>,
  { id, actor, at }: OperatorChange,
  action: AuditAction,
  projectId: string | null,
  { before, after }: { readonly before: AuditedFields | null; readonly after: AuditedFields | null },
): Promise<void> {
  await stores.auditLog.insert([{ id, at, actor, action, projectId, before, after }]);
}

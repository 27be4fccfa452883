import type { AuditAction, AuditedFields } from '../../domain/operators/audit-record.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { invariant } from '../../domain/shared/invariant.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { ManagedProject } from '../ports/stores/project-store.ts';
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

/** The project of this id or slug. Throws `Rejected` when there is none. */
export async function projectNamed(
  stores: Pick<Stores, 'projects'>,
  idOrSlug: string,
): Promise<ManagedProject> {
  const project = await stores.projects.named(idOrSlug);
  if (project === null) throw new Rejected({ kind: 'project-not-found' });
  return project;
}

/** The id of the project of a filter, by its id or slug; null for all projects. Throws `Rejected` when there is none. */
export async function projectIdIn(
  stores: Pick<Stores, 'projects'>,
  idOrSlug: string | null,
): Promise<string | null> {
  return idOrSlug === null ? null : (await projectNamed(stores, idOrSlug)).id;
}

/** The project of this id or slug, locked until the transaction ends. */
export async function lockedProject(
  stores: Pick<Stores, 'projects'>,
  idOrSlug: string,
): Promise<ManagedProject> {
  const { id } = await projectNamed(stores, idOrSlug);
  const [project] = await stores.projects.lock([id]);
  invariant(project !== undefined, 'a project is never removed');
  return project;
}

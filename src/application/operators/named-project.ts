import { invariant } from '../../domain/shared/invariant.ts';
import { Rejected } from '../errors/rejected.ts';
import type { ManagedProject } from '../ports/stores/project-store.ts';
import type { Stores } from '../ports/stores.ts';

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

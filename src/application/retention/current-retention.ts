import type { Retention } from '../../domain/access/retention.ts';
import type { Stores } from '../ports/stores.ts';

/**
 * The retention that a project has by now; null without. A slice reads it in its own transaction: an operator may have
 * switched it off, or made it longer, while the run waited.
 */
export async function currentRetention(
  stores: Pick<Stores, 'projects'>,
  projectId: string,
): Promise<Retention | null> {
  return (await currentRetentions(stores, [projectId])).get(projectId) ?? null;
}

/** The same of those of these projects that have retention. */
export async function currentRetentions(
  { projects }: Pick<Stores, 'projects'>,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, Retention>> {
  const found = await projects.byIds(projectIds);
  return new Map(
    found.flatMap(({ id, settings: { retention } }): readonly [string, Retention][] =>
      retention === null ? [] : [[id, retention]],
    ),
  );
}

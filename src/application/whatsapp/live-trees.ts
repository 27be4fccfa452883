import type { TreeOfProject } from '../ports/stores/catalog-stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/**
 * The resource trees of all live projects in the order of the projects. Each is read by itself: a large one is parsed for
 * milliseconds, and other work goes on between two. Those of dev projects are left out: they have the simulator, and their
 * resources may be made up.
 */
export async function* liveTrees(unitOfWork: Pick<UnitOfWork, 'read'>): AsyncGenerator<TreeOfProject> {
  let after: string | null = null;
  do {
    const tree: TreeOfProject | null = await nextAfter(unitOfWork, after);
    if (tree !== null) yield tree;
    after = tree?.[0] ?? null;
  } while (after !== null);
}

function nextAfter(
  unitOfWork: Pick<UnitOfWork, 'read'>,
  after: string | null,
): Promise<TreeOfProject | null> {
  return unitOfWork.read(({ whatsapp }) => whatsapp.nextLive(after));
}

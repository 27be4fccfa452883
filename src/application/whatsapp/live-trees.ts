import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** Trees that are in memory at once. */
export const TREES_PER_PAGE = 50;

/** The resource tree of one project. */
type TreeOfProject = readonly [projectId: string, businesses: readonly WhatsappBusiness[]];

/**
 * The resource trees of all live projects in the order of the projects, each page in a read of its own. Those of dev projects are
 * left out: they have the simulator, and their resources may be made up.
 */
export async function* liveTrees(unitOfWork: Pick<UnitOfWork, 'read'>): AsyncGenerator<TreeOfProject> {
  let after: string | null = null;
  do {
    const page: TreePage = await pageAfter(unitOfWork, after);
    yield* page.live;
    after = page.last;
  } while (after !== null);
}

/** The live trees of one page, and the project that the next page begins behind; null after the last one. */
interface TreePage {
  readonly live: readonly TreeOfProject[];
  readonly last: string | null;
}

function pageAfter(unitOfWork: Pick<UnitOfWork, 'read'>, after: string | null): Promise<TreePage> {
  return unitOfWork.read(async ({ whatsapp, projects }) => {
    const trees = await whatsapp.page(after, TREES_PER_PAGE);
    const known = await projects.byIds([...trees.keys()]);
    const live = new Set(known.flatMap(({ id, environment }) => (environment === 'live' ? [id] : [])));
    return {
      live: [...trees].filter(([projectId]) => live.has(projectId)),
      last: trees.size < TREES_PER_PAGE ? null : ([...trees.keys()].at(-1) ?? null),
    };
  });
}

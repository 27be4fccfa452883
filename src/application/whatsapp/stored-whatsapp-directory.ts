import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import { Batcher } from '../batching/batcher.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { WHATSAPP_DIRECTORY_FRESH_MS, type WhatsappDirectory } from '../ports/whatsapp-directory.ts';
import { ReadThroughCache } from '../read-through-cache.ts';

interface DirectoryPorts {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/** Projects whose trees are kept; a tree with hundreds of templates takes half a megabyte. */
const DIRECTORY_PROJECTS_MAX = 200;

/** The resource trees as they are stored, each kept for `WHATSAPP_DIRECTORY_FRESH_MS`, and the numbers in them. */
export class StoredWhatsappDirectory implements WhatsappDirectory {
  readonly #unitOfWork: UnitOfWork;
  readonly #trees: ReadThroughCache<readonly WhatsappBusiness[] | null>;
  /** One read for all callbacks that come together. */
  readonly #phoneIds: Batcher<string, string | null>;

  constructor({ unitOfWork, clock }: DirectoryPorts) {
    this.#unitOfWork = unitOfWork;
    this.#trees = new ReadThroughCache({
      clock,
      freshMs: WHATSAPP_DIRECTORY_FRESH_MS,
      keysMax: DIRECTORY_PROJECTS_MAX,
    });
    this.#phoneIds = new Batcher((platformIds) => this.#readPhoneIds(platformIds), { clock });
  }

  async resourcesOf(
    projectIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>> {
    const ids = [...new Set(projectIds)];
    // One read for all projects whose trees are not fresh: they ask for it before it begins.
    const wanted: string[] = [];
    const reading = Promise.resolve().then(() =>
      wanted.length === 0
        ? new Map<string, readonly WhatsappBusiness[]>()
        : this.#unitOfWork.read(({ whatsapp }) => whatsapp.byProjectIds(wanted)),
    );
    const trees = await Promise.all(
      ids.map((id) =>
        this.#trees.get(id, () => {
          wanted.push(id);
          return reading.then((found) => found.get(id) ?? null);
        }),
      ),
    );
    return new Map(
      ids.flatMap((id, index) => {
        const tree = trees[index] ?? null;
        return tree === null ? [] : [[id, tree] as const];
      }),
    );
  }

  async phoneIdsOf(platformIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = await Promise.all(platformIds.map((id) => this.#phoneIds.submit(id)));
    return new Map(
      platformIds.flatMap((id, index) => {
        const phoneId = found[index] ?? null;
        return phoneId === null ? [] : [[id, phoneId] as const];
      }),
    );
  }

  async #readPhoneIds(platformIds: readonly string[]): Promise<readonly (string | null)[]> {
    const ids = await this.#unitOfWork.read(({ whatsapp }) => whatsapp.phoneIdsOf([...new Set(platformIds)]));
    return platformIds.map((id) => ids.get(id) ?? null);
  }
}

import { accountsIn, type WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { WHATSAPP_DIRECTORY_FRESH_MS, type WhatsappDirectory } from '../ports/whatsapp-directory.ts';
import { ReadThroughCache } from '../read-through-cache.ts';
import { liveTrees } from './live-trees.ts';

interface DirectoryPorts {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/** Projects whose trees are kept; a tree with hundreds of templates takes half a megabyte. */
export const DIRECTORY_PROJECTS_MAX = 200;

/** Numbers of all projects that are kept by their platform's id; messages to others are not found. */
export const DIRECTORY_NUMBERS_MAX = 100_000;

/** The resource trees as they are stored, each kept for `WHATSAPP_DIRECTORY_FRESH_MS`. */
export class StoredWhatsappDirectory implements WhatsappDirectory {
  readonly #unitOfWork: UnitOfWork;
  readonly #trees: ReadThroughCache<readonly WhatsappBusiness[] | null>;
  readonly #numbers: ReadThroughCache<ReadonlyMap<string, string>>;

  constructor({ unitOfWork, clock }: DirectoryPorts) {
    this.#unitOfWork = unitOfWork;
    const freshMs = WHATSAPP_DIRECTORY_FRESH_MS;
    this.#trees = new ReadThroughCache({ clock, freshMs, keysMax: DIRECTORY_PROJECTS_MAX });
    this.#numbers = new ReadThroughCache({ clock, freshMs, keysMax: 1 });
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
    if (platformIds.length === 0) return new Map();
    const numbers = await this.#numbers.get('numbers', () => this.#allNumbers());
    return new Map(
      platformIds.flatMap((platformId) => {
        const id = numbers.get(platformId);
        return id === undefined ? [] : [[platformId, id] as const];
      }),
    );
  }

  /** A number that two projects have belongs to the first one. */
  async #allNumbers(): Promise<ReadonlyMap<string, string>> {
    const numbers = new Map<string, string>();
    for await (const [, businesses] of liveTrees(this.#unitOfWork)) {
      for (const { id, phoneNumberId } of numbersIn(businesses)) {
        if (numbers.size >= DIRECTORY_NUMBERS_MAX) return numbers;
        if (!numbers.has(phoneNumberId)) numbers.set(phoneNumberId, id);
      }
    }
    return numbers;
  }
}

function numbersIn(businesses: readonly WhatsappBusiness[]) {
  return accountsIn(businesses).flatMap(({ phoneNumbers }) => phoneNumbers);
}

import { environmentOfKey } from '../../domain/access/api-key.ts';
import type { Project } from '../../domain/access/project.ts';
import type { Clock } from '../ports/clock.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { SETTINGS_FRESH_MS } from '../read-through-cache.ts';
import { Rejected } from '../rejected.ts';

/** Known keys kept in memory; only keys that exist get in, so unknownKeys cannot fill it. */
const REMEMBERED_KEYS_MAX = 10_000;

/** Different keys nobody knows yet that may wait for the database at once; anybody can make up more. */
export const UNKNOWN_KEY_QUERIES_MAX = 100;

interface Remembered {
  readonly project: Project;
  readonly freshUntil: number;
}

/** Specification 5: the project an API key belongs to. */
export class AuthenticateProject {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly keyHasher: KeyHasher; readonly clock: Clock };
  readonly #remembered = new Map<string, Remembered>();
  /** Reads under way by digest: requests with one key share one. */
  readonly #lookups = new Map<string, Promise<Project | null>>();
  #strangersLookedUp = 0;

  constructor(ports: {
    readonly unitOfWork: UnitOfWork;
    readonly keyHasher: KeyHasher;
    readonly clock: Clock;
  }) {
    this.#ports = ports;
  }

  /**
   * Settings of the project may be a few seconds old. Throws `Rejected` for a missing or wrong key, and as
   * `overloaded` for one that was never seen while too many of those are being looked up.
   */
  async execute(apiKey: string | null): Promise<Project> {
    if (apiKey === null) throw new Rejected({ kind: 'unauthorized' });
    const { keyHasher, clock } = this.#ports;
    const digest = keyHasher.digest(apiKey);
    const known = this.#remembered.get(digest);
    if (known !== undefined && clock.now() < known.freshUntil) return known.project;

    const project = await (this.#lookups.get(digest) ?? this.#lookUp(apiKey, digest, known === undefined));
    if (project === null) throw new Rejected({ kind: 'unauthorized' });
    return project;
  }

  #lookUp(apiKey: string, digest: string, isStranger: boolean): Promise<Project | null> {
    if (isStranger && this.#strangersLookedUp >= UNKNOWN_KEY_QUERIES_MAX) {
      throw new Rejected({ kind: 'overloaded' });
    }
    if (isStranger) this.#strangersLookedUp += 1;
    const lookup = this.#read(apiKey, digest).finally(() => {
      if (isStranger) this.#strangersLookedUp -= 1;
      this.#lookups.delete(digest);
    });
    this.#lookups.set(digest, lookup);
    return lookup;
  }

  async #read(apiKey: string, digest: string): Promise<Project | null> {
    const { unitOfWork, clock } = this.#ports;
    const freshUntil = clock.now() + SETTINGS_FRESH_MS;
    const project = await unitOfWork.read((stores) => stores.projects.byKeyDigest(digest));
    if (project === null || project.environment !== environmentOfKey(apiKey)) {
      this.#remembered.delete(digest);
      return null;
    }
    this.#remember(digest, { project, freshUntil });
    return project;
  }

  #remember(digest: string, remembered: Remembered): void {
    if (this.#remembered.size >= REMEMBERED_KEYS_MAX) this.#remembered.clear();
    this.#remembered.set(digest, remembered);
  }
}

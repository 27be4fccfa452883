import type { Project } from '../../domain/access/project.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { ReadThroughCache, SETTINGS_FRESH_MS } from '../read-through-cache.ts';
import { Rejected } from '../rejected.ts';

/** The most keys kept in memory; keys that do not exist are never kept, so nobody can fill it. */
const KEYS_MAX = 10_000;

/** Different unknown keys that may wait for the database at once; anybody can make up more. */
export const UNKNOWN_KEY_QUERIES_MAX = 100;

/** Whose the API keys are. */
export interface ProjectKeys {
  /** The project of the key with this digest; null when there is no such key. */
  projectOf(digest: string): Promise<Project | null>;
}

/** The keys as they are stored. */
export class StoredProjectKeys implements ProjectKeys {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  projectOf(digest: string): Promise<Project | null> {
    return this.#ports.unitOfWork.read((stores) => stores.projects.byKeyDigest(digest));
  }
}

/** Keeps the keys of another source for `SETTINGS_FRESH_MS`, and limits the queries for unknown ones. */
export class CachedProjectKeys implements ProjectKeys {
  readonly #source: ProjectKeys;
  readonly #cache: ReadThroughCache<Project | null>;
  #unknownKeyQueries = 0;

  constructor({ source, clock }: { readonly source: ProjectKeys; readonly clock: Clock }) {
    this.#source = source;
    const keeps = (project: Project | null): boolean => project !== null;
    this.#cache = new ReadThroughCache({ clock, freshMs: SETTINGS_FRESH_MS, keysMax: KEYS_MAX, keeps });
  }

  /**
   * Rejects as `overloaded` a key that was never seen while too many of those are being read: a known key never
   * waits behind unknown ones.
   */
  projectOf(digest: string): Promise<Project | null> {
    const isKnown = this.#cache.has(digest);
    return this.#cache.get(digest, () =>
      isKnown ? this.#source.projectOf(digest) : this.#readUnknown(digest),
    );
  }

  async #readUnknown(digest: string): Promise<Project | null> {
    if (this.#unknownKeyQueries >= UNKNOWN_KEY_QUERIES_MAX) throw new Rejected({ kind: 'overloaded' });
    this.#unknownKeyQueries += 1;
    try {
      return await this.#source.projectOf(digest);
    } finally {
      this.#unknownKeyQueries -= 1;
    }
  }
}

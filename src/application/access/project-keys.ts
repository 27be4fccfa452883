import type { Project } from '../../domain/access/project.ts';
import { hasChecksum } from '../../domain/shared/checksum.ts';
import { InFlight } from '../concurrency/in-flight.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Clock } from '../ports/clock.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { ReadThroughCache, SETTINGS_FRESH_MS } from '../read-through-cache.ts';

/** The most keys kept in memory; keys that do not exist are never kept, so nobody can fill it. */
const KEYS_MAX = 10_000;

/** Different unknown keys without a checksum that may wait for the database at once; anybody can make up more. */
export const UNKNOWN_KEY_QUERIES_MAX = 100;

/** As many of them from one address: one client who makes up keys leaves most of them to the others. */
export const UNKNOWN_KEY_QUERIES_PER_ADDRESS_MAX = 20;

/** Whose the API keys are. */
export interface ProjectKeys {
  /** The project of this key; null when there is no such key, or when it does not work any more. */
  projectOf(apiKey: string): Promise<Project | null>;
  /** Whether any key ends without a checksum. */
  hasKeyWithoutChecksum(): Promise<boolean>;
}

/** The keys as they are stored. */
export class StoredProjectKeys implements ProjectKeys {
  readonly #ports: {
    readonly unitOfWork: UnitOfWork;
    readonly keyHasher: KeyHasher;
    readonly clock: Clock;
  };

  constructor(ports: {
    readonly unitOfWork: UnitOfWork;
    readonly keyHasher: KeyHasher;
    readonly clock: Clock;
  }) {
    this.#ports = ports;
  }

  projectOf(apiKey: string): Promise<Project | null> {
    const { unitOfWork, keyHasher, clock } = this.#ports;
    const digest = keyHasher.digest(apiKey);
    return unitOfWork.read((stores) => stores.projects.byKeyDigest(digest, clock.now()));
  }

  hasKeyWithoutChecksum(): Promise<boolean> {
    return this.#ports.unitOfWork.read((stores) => stores.projects.hasKeyWithoutChecksum());
  }
}

interface Ports {
  readonly source: ProjectKeys;
  readonly keyHasher: KeyHasher;
  readonly clock: Clock;
}

/**
 * Keeps the keys of another source for `SETTINGS_FRESH_MS`. A key without a checksum is looked up only when the source
 * has such keys, and a limited number of unknown ones at a time.
 */
export class CachedProjectKeys {
  readonly #ports: Ports;
  readonly #projects: ReadThroughCache<Project | null>;
  readonly #hasKeyWithoutChecksum: ReadThroughCache<boolean>;
  /** By network. */
  readonly #unknownKeyQueries = new InFlight({
    perKey: UNKNOWN_KEY_QUERIES_PER_ADDRESS_MAX,
    all: UNKNOWN_KEY_QUERIES_MAX,
  });

  constructor(ports: Ports) {
    this.#ports = ports;
    const { clock } = ports;
    const keeps = (project: Project | null): boolean => project !== null;
    const options = { clock, freshMs: SETTINGS_FRESH_MS, servesStale: true };
    this.#projects = new ReadThroughCache({ ...options, keysMax: KEYS_MAX, keeps });
    this.#hasKeyWithoutChecksum = new ReadThroughCache({ ...options, keysMax: 1 });
  }

  /**
   * Rejects as `overloaded` a key without a checksum that was never seen while too many of those are being read, in all
   * or from its network. A key with a checksum, and a known one, never wait behind them. A known key stays known while
   * the source fails.
   */
  projectOf(apiKey: string, network: string): Promise<Project | null> {
    const { source } = this.#ports;
    return this.#projects.get(apiKey, () =>
      this.#projects.has(apiKey) ? source.projectOf(apiKey) : this.#readUnknown(apiKey, network),
    );
  }

  async #readUnknown(apiKey: string, network: string): Promise<Project | null> {
    const { source, keyHasher } = this.#ports;
    // Only this installation makes keys with its checksum: nobody can make up many.
    if (hasChecksum(apiKey, keyHasher.checksum)) return source.projectOf(apiKey);
    if (!(await this.#hasKeyWithoutChecksum.get('', () => source.hasKeyWithoutChecksum()))) return null;
    if (!this.#unknownKeyQueries.tryBegin(network)) throw new Rejected({ kind: 'overloaded' });
    try {
      return await source.projectOf(apiKey);
    } finally {
      this.#unknownKeyQueries.end(network);
    }
  }
}

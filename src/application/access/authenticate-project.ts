import { environmentOfKey } from '../../domain/access/api-key.ts';
import type { Project } from '../../domain/access/project.ts';
import { SETTINGS_FRESH_MS } from '../catalog/price-book.ts';
import type { Clock } from '../ports/clock.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { Refused } from '../refused.ts';

/** Known keys kept in memory; only keys that exist get in, so strangers cannot fill it. */
const REMEMBERED_KEYS_MAX = 10_000;

interface Remembered {
  readonly project: Project;
  readonly freshUntil: number;
}

/** Specification 5: the project an API key belongs to. */
export class AuthenticateProject {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly keyHasher: KeyHasher; readonly clock: Clock };
  readonly #remembered = new Map<string, Remembered>();

  constructor(ports: {
    readonly unitOfWork: UnitOfWork;
    readonly keyHasher: KeyHasher;
    readonly clock: Clock;
  }) {
    this.#ports = ports;
  }

  /** Settings of the project may be a few seconds old. Throws `Refused` for a missing or wrong key. */
  async execute(apiKey: string | null): Promise<Project> {
    if (apiKey === null) throw new Refused({ kind: 'unauthorized' });
    const { unitOfWork, keyHasher, clock } = this.#ports;
    const digest = keyHasher.digest(apiKey);
    const now = clock.now();
    const known = this.#remembered.get(digest);
    if (known !== undefined && now < known.freshUntil) return known.project;

    const project = await unitOfWork.read((stores) => stores.projects.byKeyDigest(digest));
    if (project === null || project.environment !== environmentOfKey(apiKey)) {
      this.#remembered.delete(digest);
      throw new Refused({ kind: 'unauthorized' });
    }
    if (this.#remembered.size >= REMEMBERED_KEYS_MAX) this.#remembered.clear();
    this.#remembered.set(digest, { project, freshUntil: now + SETTINGS_FRESH_MS });
    return project;
  }
}

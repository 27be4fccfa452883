import { environmentOfKey } from '../../domain/access/api-key.ts';
import type { Project } from '../../domain/access/project.ts';
import { Rejected } from '../errors/rejected.ts';
import type { KeyUses } from './key-uses.ts';
import type { CachedProjectKeys } from './project-keys.ts';

interface AuthenticatePorts {
  readonly projectKeys: Pick<CachedProjectKeys, 'projectOf'>;
  readonly keyUses: Pick<KeyUses, 'note'>;
}

/** Specification 5: the project an API key belongs to. */
export class AuthenticateProject {
  readonly #projectKeys: Pick<CachedProjectKeys, 'projectOf'>;
  readonly #keyUses: Pick<KeyUses, 'note'>;

  constructor({ projectKeys, keyUses }: AuthenticatePorts) {
    this.#projectKeys = projectKeys;
    this.#keyUses = keyUses;
  }

  /**
   * Settings of the project may be a few seconds old. Rejects a missing or wrong key as `unauthorized`, and one that
   * was never seen as `overloaded` while too many of those are being read, from its network or in all.
   */
  async execute(apiKey: string | null, network: string): Promise<Project> {
    if (apiKey === null) throw new Rejected({ kind: 'unauthorized' });
    const project = await this.#projectKeys.projectOf(apiKey, network);
    if (project === null || project.environment !== environmentOfKey(apiKey)) {
      throw new Rejected({ kind: 'unauthorized' });
    }
    this.#keyUses.note(apiKey);
    return project;
  }
}

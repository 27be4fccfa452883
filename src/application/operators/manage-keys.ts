import { API_KEY_RANDOM_BYTES, newApiKey } from '../../domain/access/api-key.ts';
import {
  isWorking,
  keyIdOf,
  lastFourOf,
  type ProjectKey,
  replacedKey,
  WORKING_KEYS_MAX,
} from '../../domain/access/project-key.ts';
import { changedFields } from '../../domain/audit/audit-record.ts';
import { auditedKey } from '../../domain/audit/audited.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { newChange, recordChange } from '../audit/record-change.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { KeyPlace, ManagedProject } from '../ports/stores/project-store.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { lockedProject, projectNamed } from './named-project.ts';
import { cutPage, type ListPage } from './walk-page.ts';

/** A key as operators see it; `now` is when it was read. */
export interface ListedKey {
  readonly project: ManagedProject;
  readonly key: ProjectKey;
  readonly now: number;
}

/** A key that was just made, with its text: it can never be read again. */
export interface NewKey extends ListedKey {
  readonly apiKey: string;
}

/** A key that was just made, and the key that it replaces. */
export interface RotatedKey {
  readonly made: NewKey;
  readonly replaced: ListedKey;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly keyHasher: KeyHasher;
  readonly clock: Clock;
  readonly ids: IdSource;
}

const HEX_CHARACTERS_PER_BYTE = 2;

/**
 * The API keys of projects, for operators. Only a digest of a key is stored. A key that is revoked or has ended is rejected in
 * every process within `SETTINGS_FRESH_MS`.
 */
export class ManageKeys {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Rejects as `project-archived`, and as `too-many-keys` when the project has `WORKING_KEYS_MAX`. */
  create(actor: Actor, project: string): Promise<NewKey> {
    const change = newChange(this.#ports, actor);
    return this.#ports.unitOfWork.run(async (stores) => {
      const owner = await lockedProject(stores, project);
      const made = await this.#insert(stores, owner, change.at);
      const after = auditedKey(made.key);
      await recordChange(stores, change, 'key-created', owner.id, { before: null, after });
      return made;
    });
  }

  /** Up to `limit` keys, the newest first, those that do not work any more among them. */
  list(project: string, before: KeyPlace | null, limit: number): Promise<ListPage<ListedKey, KeyPlace>> {
    const now = this.#ports.clock.now();
    return this.#ports.unitOfWork.read(async (stores) => {
      const owner = await projectNamed(stores, project);
      const keys = await stores.projects.keysOf(owner.id, before, limit + 1);
      const listed = keys.map((key) => ({ project: owner, key, now }));
      return cutPage(listed, limit, ({ key: { createdAt, digest } }) => ({ createdAt, digest }));
    });
  }

  /**
   * Rejects as `key-not-found`. A key that is revoked already stays as it is. One that has ended is revoked: by a clock that is
   * behind it may still work.
   */
  revoke(actor: Actor, project: string, keyId: string): Promise<ListedKey> {
    const change = newChange(this.#ports, actor);
    return this.#ports.unitOfWork.run(async (stores) => {
      const owner = await lockedProject(stores, project);
      const key = await keyOf(stores, owner, keyId);
      if (key.revokedAt !== null) return { project: owner, key, now: change.at };
      const revoked = { ...key, revokedAt: change.at };
      await stores.projects.saveKeys([revoked]);
      await recordChange(stores, change, 'key-revoked', owner.id, {
        before: auditedKey(key),
        after: auditedKey(revoked),
      });
      return { project: owner, key: revoked, now: change.at };
    });
  }

  /**
   * Makes a new key; the old one works for `overlapMs` longer, or until an earlier end of its own, and counts among the working
   * keys meanwhile. Rejects as `create` and `revoke` do, and as `key-not-working`.
   */
  rotate(actor: Actor, project: string, keyId: string, overlapMs: number): Promise<RotatedKey> {
    const change = newChange(this.#ports, actor);
    return this.#ports.unitOfWork.run(async (stores) => {
      const owner = await lockedProject(stores, project);
      const key = await keyOf(stores, owner, keyId);
      if (!isWorking(key, change.at)) throw new Rejected({ kind: 'key-not-working' });
      const replaced = replacedKey(key, change.at, overlapMs);
      await stores.projects.saveKeys([replaced]);
      const made = await this.#insert(stores, owner, change.at);
      const { before, after } = changedFields(auditedKey(key), auditedKey(replaced));
      await recordChange(stores, change, 'key-rotated', owner.id, {
        before: { ...before, keyId: keyIdOf(key.digest) },
        after: { ...after, keyId: keyIdOf(key.digest), newKeyId: keyIdOf(made.key.digest) },
      });
      return { made, replaced: { project: owner, key: replaced, now: change.at } };
    });
  }

  async #insert(stores: Stores, project: ManagedProject, now: number): Promise<NewKey> {
    const { keyHasher, ids } = this.#ports;
    if (project.archivedAt !== null) throw new Rejected({ kind: 'project-archived' });
    const working = await stores.projects.workingKeysOf(project.id, now, WORKING_KEYS_MAX);
    if (working.length >= WORKING_KEYS_MAX) throw new Rejected({ kind: 'too-many-keys' });
    const random = ids.secret().slice(0, HEX_CHARACTERS_PER_BYTE * API_KEY_RANDOM_BYTES);
    const apiKey = newApiKey(project.environment, random, keyHasher.checksum);
    const stored = {
      digest: keyHasher.digest(apiKey),
      projectId: project.id,
      createdAt: now,
      lastFour: lastFourOf(apiKey),
    };
    await stores.projects.insertKeys([{ ...stored, hasChecksum: true }]);
    return { project, key: { ...stored, endsAt: null, revokedAt: null, lastUsedAt: null }, now, apiKey };
  }
}

async function keyOf(
  { projects }: Pick<Stores, 'projects'>,
  project: ManagedProject,
  keyId: string,
): Promise<ProjectKey> {
  const key = await projects.keyOf(project.id, keyId);
  if (key === null || keyIdOf(key.digest) !== keyId) throw new Rejected({ kind: 'key-not-found' });
  return key;
}

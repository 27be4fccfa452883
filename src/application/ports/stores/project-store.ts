import type { Project } from '../../../domain/access/project.ts';
import type { ProjectKey } from '../../../domain/access/project-key.ts';

/** What is stored of a new API key. */
export interface StoredKey extends Pick<ProjectKey, 'digest' | 'projectId' | 'createdAt' | 'lastFour'> {
  readonly hasChecksum: boolean;
}

/** A project as operators see it. */
export interface ManagedProject extends Project {
  /** Its keys are rejected since then; null for a project that is in use. Milliseconds since 1970. */
  readonly archivedAt: number | null;
}

/** The place of a key in a list. */
export interface KeyPlace {
  readonly createdAt: number;
  readonly digest: string;
}

export interface ProjectStore {
  /** Fails the unit on an id or slug that exists. */
  insert(projects: readonly Project[]): Promise<void>;
  /** The projects that exist among the ids, in the order of their ids. */
  byIds(ids: readonly string[]): Promise<readonly ManagedProject[]>;
  /**
   * The project that the API key of this digest belongs to. Null when there is none, when the key is revoked or has ended
   * at `now`, and when the project is archived.
   */
  byKeyDigest(digest: string, now: number): Promise<Project | null>;
  /** Fails the unit on a digest that exists. */
  insertKeys(keys: readonly StoredKey[]): Promise<void>;
  /** Whether any API key ends without a checksum. */
  hasKeyWithoutChecksum(): Promise<boolean>;
  /** Whether any project exists. */
  isEmpty(): Promise<boolean>;

  /** The project of this id, else the one of this slug, else null. */
  named(idOrSlug: string): Promise<ManagedProject | null>;
  /** The projects of these ids, in the order of their ids, locked until the transaction ends. */
  lock(ids: readonly string[]): Promise<readonly ManagedProject[]>;
  /** Up to `limit` projects whose ids are greater than `after`, in the order of their ids; from the first with null. */
  list(after: string | null, limit: number): Promise<readonly ManagedProject[]>;
  /** Saves the name, the settings and the archiving of projects. */
  save(projects: readonly ManagedProject[]): Promise<void>;
  /** Up to `limit` keys of the project, the newest first; those before `before` when it is given. */
  keysOf(projectId: string, before: KeyPlace | null, limit: number): Promise<readonly ProjectKey[]>;
  /** The keys of the project that are neither revoked nor ended at `now`, at most `limit`. */
  workingKeysOf(projectId: string, now: number, limit: number): Promise<readonly ProjectKey[]>;
  /** The key of the project whose digest begins so, or null. */
  keyOf(projectId: string, digestStart: string): Promise<ProjectKey | null>;
  /** Saves the end and the revocation of keys. */
  saveKeys(keys: readonly ProjectKey[]): Promise<void>;
  /** Saves the last use of keys; a key that does not exist is skipped. */
  noteKeyUses(uses: readonly { readonly digest: string; readonly lastUsedAt: number }[]): Promise<void>;
}

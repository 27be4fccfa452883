import type { Project } from '../../domain/access/project.ts';

/** What is stored of an API key. */
export interface StoredKey {
  readonly digest: string;
  readonly hasChecksum: boolean;
  readonly projectId: string;
  readonly createdAt: number;
}

export interface ProjectStore {
  /** Fails the unit on an id or slug that exists. */
  insert(projects: readonly Project[]): Promise<void>;
  /** The projects that exist among the ids, in the order of their ids. */
  byIds(ids: readonly string[]): Promise<readonly Project[]>;
  /** The project that the API key of this digest belongs to, or null. */
  byKeyDigest(digest: string): Promise<Project | null>;
  /** Fails the unit on a digest that exists. */
  insertKeys(keys: readonly StoredKey[]): Promise<void>;
  /** Whether any API key ends without a checksum. */
  hasKeyWithoutChecksum(): Promise<boolean>;
  /** Whether any project exists. */
  isEmpty(): Promise<boolean>;
}

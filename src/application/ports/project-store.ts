import type { Project } from '../../domain/access/project.ts';

export interface ProjectStore {
  /** Fails the unit on an id or slug that exists. */
  insert(projects: readonly Project[]): Promise<void>;
  /** Those of the projects that exist, in the order of their ids. */
  byIds(ids: readonly string[]): Promise<readonly Project[]>;
  /** The project a key's digest belongs to, or null. */
  byKeyDigest(digest: string): Promise<Project | null>;
  /** Fails the unit on a digest that exists. */
  insertKeys(
    keys: readonly { readonly digest: string; readonly projectId: string; readonly createdAt: number }[],
  ): Promise<void>;
  /** Whether any project exists. */
  isEmpty(): Promise<boolean>;
}

import type { ManagedSenderId } from '../../../domain/senders/managed-sender-id.ts';
import type { SenderId, SenderIdStatus } from '../../../domain/senders/sender-id.ts';
import type { WhatsappBusiness } from '../../../domain/whatsapp/whatsapp-resources.ts';

export interface SenderIdStore {
  /** Fails the unit on an id that exists, and on a name the project has already. */
  insert(senderIds: readonly SenderId[]): Promise<void>;
  /** All sender IDs of the projects, in the order of their ids. */
  byProjectIds(projectIds: readonly string[]): Promise<readonly SenderId[]>;
  /** Up to `limit` in the order of their ids. */
  list(query: SenderIdQuery): Promise<readonly ManagedSenderId[]>;
  /** The one of the project with this id or this name; null when there is none. */
  find(projectId: string, idOrName: string): Promise<ManagedSenderId | null>;
  /** Writes status, reason and prices. */
  save(senderIds: readonly ManagedSenderId[]): Promise<void>;
}

/** Which sender IDs a list has; null restricts nothing. */
export interface SenderIdQuery {
  readonly projectId: string | null;
  readonly status: SenderIdStatus | null;
  /** Only larger ids. */
  readonly after: string | null;
  readonly limit: number;
}

/** The resource tree of one project. */
export type TreeOfProject = readonly [projectId: string, businesses: readonly WhatsappBusiness[]];

/**
 * The resource tree of a project has no more characters as JSON: two accounts of as many templates as Meta allows. It is read and
 * written as a whole, and parsed on the event loop.
 */
export const TREE_CHARACTERS_MAX = 16 * 1_048_576;

export interface WhatsappStore {
  /** Replaces the resource tree of a project. Rejects one of more than `TREE_CHARACTERS_MAX`. */
  replace(projectId: string, businesses: readonly WhatsappBusiness[]): Promise<void>;
  /** The resource trees by project; the map lacks a project without one. */
  byProjectIds(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>>;
  /** As `byProjectIds`, and keeps others from replacing the trees until the transaction ends. */
  lock(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>>;
  /** The tree of the first live project behind `after`, or of the first one of all; null when there is none. */
  nextLive(after: string | null): Promise<TreeOfProject | null>;
  /**
   * Our ids of the numbers of live projects by the ids that the platform gave them, without reading a tree. The map lacks
   * numbers of no live project; of a number that two have one counts that is not deleted, then one of a project that is not
   * archived, then that of the first project.
   */
  phoneIdsOf(platformIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

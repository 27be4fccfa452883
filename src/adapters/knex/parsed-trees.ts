import { TREE_CHARACTERS_MAX } from '../../application/ports/stores/catalog-stores.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { Row } from './driver/connection.ts';

/**
 * What the trees of one process that are kept have as documents, in characters; in memory they take two to three times that. As
 * many as four of the largest: the reads of one project must not make everybody wait while its tree is parsed again and again.
 */
export const PARSED_TREES_CHARACTERS_MAX = 4 * TREE_CHARACTERS_MAX;

interface ParsedTree {
  readonly version: string;
  readonly businesses: readonly WhatsappBusiness[];
  readonly characters: number;
}

/**
 * Trees of whatsapp resources that were read, each with its version: while the stored version is the same, the document is
 * not read and parsed again. No two trees ever have one version, not even when a transaction is rolled back. The trees that
 * were not used for longest are dropped first.
 */
export class ParsedTrees {
  readonly #trees = new Map<string, ParsedTree>();
  #characters = 0;

  /** The tree of a row with `project_id` and `version`; null when it is not kept in this version. */
  find({ project_id, version }: Row): readonly WhatsappBusiness[] | null {
    const projectId = project_id as string;
    const found = this.#trees.get(projectId);
    if (found === undefined || found.version !== version) return null;
    this.#trees.delete(projectId);
    this.#trees.set(projectId, found);
    return found.businesses;
  }

  /** Keeps the tree of a row that has the `document` besides, unless it is larger than all may be. */
  keep({ project_id, version, document }: Row, businesses: readonly WhatsappBusiness[]): void {
    const projectId = project_id as string;
    this.#remove(projectId);
    const characters = (document as string).length;
    if (characters > PARSED_TREES_CHARACTERS_MAX) return;
    this.#trees.set(projectId, { version: version as string, businesses, characters });
    this.#characters += characters;
    for (const oldest of this.#trees.keys()) {
      if (this.#characters <= PARSED_TREES_CHARACTERS_MAX) break;
      this.#remove(oldest);
    }
  }

  #remove(projectId: string): void {
    this.#characters -= this.#trees.get(projectId)?.characters ?? 0;
    this.#trees.delete(projectId);
  }
}

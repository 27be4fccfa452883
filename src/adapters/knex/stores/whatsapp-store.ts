import {
  TREE_CHARACTERS_MAX,
  type TreeOfProject,
  type WhatsappStore,
} from '../../../application/ports/stores/catalog-stores.ts';
import type { WhatsappBusiness } from '../../../domain/whatsapp/whatsapp-resources.ts';
import type { Insert, Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import type { ParsedTrees } from '../parsed-trees.ts';

const INSERT = {
  table: 'whatsapp_resources',
  columns: { project_id: 'text', document: 'text' },
  orderBy: 'project_id',
  onConflict: 'ON CONFLICT (project_id) DO UPDATE SET document = excluded.document',
} as const satisfies Insert<string>;

export class SqlWhatsappStore implements WhatsappStore {
  readonly #session: Session;
  readonly #parsed: ParsedTrees;

  constructor(session: Session, parsed: ParsedTrees) {
    this.#session = session;
    this.#parsed = parsed;
  }

  async replace(projectId: string, businesses: readonly WhatsappBusiness[]): Promise<void> {
    const document = JSON.stringify(businesses);
    if (document.length > TREE_CHARACTERS_MAX) {
      throw new Error(
        `The whatsapp resources of the project have more than ${TREE_CHARACTERS_MAX} characters`,
      );
    }
    await this.#session.insert(INSERT, [{ project_id: projectId, document }]);
  }

  /** Whole trees: a project without one is not in the map. Only those are read that are not kept in their version of now. */
  async byProjectIds(
    projectIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>> {
    const versions = await this.#session.query(
      'SELECT project_id, version FROM whatsapp_versions WHERE project_id = ANY(?) ORDER BY project_id',
      [projectIds],
    );
    const kept = versions.map((row) => [row.project_id as string, this.#parsed.find(row)] as const);
    const missing = kept.flatMap(([projectId, tree]) => (tree === null ? [projectId] : []));
    const read = missing.length === 0 ? new Map() : await this.#read(missing);
    return new Map(
      kept.flatMap(([projectId, tree]) => {
        const found = tree ?? read.get(projectId);
        return found === undefined ? [] : [[projectId, found] as const];
      }),
    );
  }

  /** The trees are read by statements of their own: the one that waits for a lock would see the versions of before. */
  async lock(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>> {
    await this.#session.query(
      'SELECT project_id FROM whatsapp_resources WHERE project_id = ANY(?) ORDER BY project_id FOR UPDATE',
      [projectIds],
    );
    return this.byProjectIds(projectIds);
  }

  async nextLive(after: string | null): Promise<TreeOfProject | null> {
    const rows = await this.#session.query(
      `SELECT project_id, document FROM whatsapp_resources JOIN projects ON projects.id = project_id
       WHERE project_id > ? AND environment = 'live' ORDER BY project_id LIMIT 1`,
      [after ?? ''],
    );
    const [tree = null] = treesIn(rows);
    return tree;
  }

  async phoneIdsOf(platformIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#session.query(
      `SELECT platform_id, phone_id FROM whatsapp_numbers JOIN projects ON projects.id = project_id
       WHERE platform_id = ANY(?) AND environment = 'live'
       ORDER BY platform_id, is_deleted DESC, archived_at IS NULL, EXISTS (
         SELECT 1 FROM inbound_webhooks WHERE phone_number_id = phone_id
       ), project_id DESC`,
      [platformIds],
    );
    // Of a number that several have the last one counts: not deleted, not archived, with a webhook, of the first project.
    return new Map(rows.map((row) => [row.platform_id as string, row.phone_id as string]));
  }

  /** A tree and its version in one statement: between two, others may replace both. */
  async #read(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>> {
    const rows = await this.#session.query(
      `SELECT project_id, version, document FROM whatsapp_versions JOIN whatsapp_resources USING (project_id)
       WHERE project_id = ANY(?) ORDER BY project_id`,
      [projectIds],
    );
    const trees = treesIn(rows);
    for (const row of rows) this.#parsed.keep(row, trees.get(row.project_id as string) ?? []);
    return trees;
  }
}

function treesIn(rows: readonly Row[]): ReadonlyMap<string, readonly WhatsappBusiness[]> {
  return new Map(
    rows.map((row) => [
      row.project_id as string,
      JSON.parse(row.document as string) as readonly WhatsappBusiness[],
    ]),
  );
}

import type { WhatsappStore } from '../../../application/ports/catalog-stores.ts';
import type { WhatsappBusiness } from '../../../domain/whatsapp/whatsapp-resources.ts';
import type { Insert, Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'whatsapp_resources',
  columns: { project_id: 'text', document: 'text' },
  orderBy: 'project_id',
  onConflict: 'ON CONFLICT (project_id) DO UPDATE SET document = excluded.document',
} as const satisfies Insert<string>;

export class SqlWhatsappStore implements WhatsappStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async replace(projectId: string, businesses: readonly WhatsappBusiness[]): Promise<void> {
    await this.#session.insert(INSERT, [{ project_id: projectId, document: JSON.stringify(businesses) }]);
  }

  /** Whole trees: a project without one is not in the map. */
  async byProjectIds(
    projectIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>> {
    return treesIn(
      await this.#session.query(
        'SELECT project_id, document FROM whatsapp_resources WHERE project_id = ANY(?) ORDER BY project_id',
        [projectIds],
      ),
    );
  }

  async lock(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>> {
    return treesIn(
      await this.#session.query(
        `SELECT project_id, document FROM whatsapp_resources WHERE project_id = ANY(?)
         ORDER BY project_id FOR UPDATE`,
        [projectIds],
      ),
    );
  }

  async page(after: string | null, limit: number): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>> {
    return treesIn(
      await this.#session.query(
        'SELECT project_id, document FROM whatsapp_resources WHERE project_id > ? ORDER BY project_id LIMIT ?',
        [after ?? '', limit],
      ),
    );
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

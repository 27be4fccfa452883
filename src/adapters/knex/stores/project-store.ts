import type { ProjectStore, StoredKey } from '../../../application/ports/project-store.ts';
import {
  DEFAULT_SETTINGS,
  type Environment,
  type Project,
  type ProjectSettings,
} from '../../../domain/access/project.ts';
import type { Insert, Row, RowOf } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'projects',
  columns: { id: 'text', slug: 'text', name: 'text', environment: 'text', settings: 'text' },
  orderBy: 'id',
} as const satisfies Insert<string>;

const INSERT_KEYS = {
  table: 'api_keys',
  columns: { digest: 'text', project_id: 'text', has_checksum: 'bigint', created_at: 'bigint' },
  orderBy: 'digest',
} as const satisfies Insert<string>;

export class SqlProjectStore implements ProjectStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(projects: readonly Project[]): Promise<void> {
    await this.#session.insert(INSERT, projects.map(toRow));
  }

  async byIds(ids: readonly string[]): Promise<readonly Project[]> {
    const rows = await this.#session.query('SELECT * FROM projects WHERE id = ANY(?) ORDER BY id', [ids]);
    return rows.map(fromRow);
  }

  async byKeyDigest(digest: string): Promise<Project | null> {
    const [row] = await this.#session.query(
      'SELECT projects.* FROM api_keys JOIN projects ON projects.id = api_keys.project_id WHERE digest = ?',
      [digest],
    );
    return row === undefined ? null : fromRow(row);
  }

  async insertKeys(keys: readonly StoredKey[]): Promise<void> {
    await this.#session.insert(
      INSERT_KEYS,
      keys.map(({ digest, hasChecksum, projectId, createdAt }) => ({
        digest,
        project_id: projectId,
        has_checksum: Number(hasChecksum),
        created_at: createdAt,
      })),
    );
  }

  async hasKeyWithoutChecksum(): Promise<boolean> {
    const found = await this.#session.select((knex) =>
      knex('api_keys').select('digest').where({ has_checksum: 0 }).limit(1),
    );
    return found.length > 0;
  }

  async isEmpty(): Promise<boolean> {
    const found = await this.#session.select((knex) => knex('projects').select('id').limit(1));
    return found.length === 0;
  }
}

function toRow({ id, slug, name, environment, settings }: Project): RowOf<keyof typeof INSERT.columns> {
  return { id, slug, name, environment, settings: JSON.stringify(settings) };
}

function fromRow(row: Row): Project {
  return {
    id: row.id as string,
    name: row.name as string,
    slug: row.slug as string,
    environment: row.environment as Environment,
    // A row of an older version may lack the newest.
    settings: { ...DEFAULT_SETTINGS, ...(JSON.parse(row.settings as string) as Partial<ProjectSettings>) },
  };
}

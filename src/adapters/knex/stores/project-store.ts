import type { Knex } from 'knex';
import type {
  KeyPlace,
  ManagedProject,
  ProjectStore,
  StoredKey,
} from '../../../application/ports/stores/project-store.ts';
import type { Environment, Project } from '../../../domain/access/project.ts';
import type { ProjectKey } from '../../../domain/access/project-key.ts';
import type { Insert, Row, RowOf, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import { readSettings } from './project-settings.ts';

const INSERT = {
  table: 'projects',
  columns: { id: 'text', slug: 'text', name: 'text', environment: 'text', settings: 'text' },
  orderBy: 'id',
} as const satisfies Insert<string>;

const INSERT_KEYS = {
  table: 'api_keys',
  columns: {
    digest: 'text',
    project_id: 'text',
    has_checksum: 'bigint',
    last_four: 'text',
    created_at: 'bigint',
  },
  orderBy: 'digest',
} as const satisfies Insert<string>;

const SAVE = {
  table: 'projects',
  key: { id: 'text' },
  columns: { name: 'text', settings: 'text', archived_at: 'bigint' },
  mode: 'set',
} as const satisfies Update<string, string>;

const SAVE_KEYS = {
  table: 'api_keys',
  key: { digest: 'text' },
  columns: { ends_at: 'bigint', revoked_at: 'bigint' },
  mode: 'set',
} as const satisfies Update<string, string>;

const NOTE_KEY_USES = {
  table: 'api_key_uses',
  columns: { digest: 'text', last_used_at: 'bigint' },
  orderBy: 'digest',
  onConflict: 'ON CONFLICT (digest) DO UPDATE SET last_used_at = excluded.last_used_at',
} as const satisfies Insert<string>;

/** Greater than every hex character. */
const AFTER_HEX = '~';

const COLUMN_NAMES = ['projects.id', 'name', 'slug', 'environment', 'settings', 'archived_at'];
const COLUMNS = COLUMN_NAMES.join(', ');

const BY_KEY_DIGEST = `
  SELECT ${COLUMNS} FROM api_keys JOIN projects ON projects.id = api_keys.project_id
  WHERE api_keys.digest = ? AND api_keys.revoked_at IS NULL
    AND (api_keys.ends_at IS NULL OR api_keys.ends_at > ?) AND projects.archived_at IS NULL`;

export class SqlProjectStore implements ProjectStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(projects: readonly Project[]): Promise<void> {
    await this.#session.insert(INSERT, projects.map(toRow));
  }

  async byIds(ids: readonly string[]): Promise<readonly ManagedProject[]> {
    const rows = await this.#session.query(`SELECT ${COLUMNS} FROM projects WHERE id = ANY(?) ORDER BY id`, [
      ids,
    ]);
    return rows.map(managedFrom);
  }

  async byKeyDigest(digest: string, now: number): Promise<Project | null> {
    const [row] = await this.#session.query(BY_KEY_DIGEST, [digest, now]);
    return row === undefined ? null : fromRow(row);
  }

  async insertKeys(keys: readonly StoredKey[]): Promise<void> {
    await this.#session.insert(
      INSERT_KEYS,
      keys.map(({ digest, hasChecksum, projectId, lastFour, createdAt }) => ({
        digest,
        project_id: projectId,
        has_checksum: Number(hasChecksum),
        last_four: lastFour,
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

  async named(idOrSlug: string): Promise<ManagedProject | null> {
    const rows = await this.#session.query(`SELECT ${COLUMNS} FROM projects WHERE id = ? OR slug = ?`, [
      idOrSlug,
      idOrSlug,
    ]);
    const row = rows.find(({ id }) => id === idOrSlug) ?? rows[0];
    return row === undefined ? null : managedFrom(row);
  }

  async lock(ids: readonly string[]): Promise<readonly ManagedProject[]> {
    // No id changes: what refers to a project, such as a new campaign, need not wait, and behind its account must not.
    const rows = await this.#session.query(
      `SELECT ${COLUMNS} FROM projects WHERE id = ANY(?) ORDER BY id FOR NO KEY UPDATE`,
      [ids],
    );
    return rows.map(managedFrom);
  }

  async list(after: string | null, limit: number): Promise<readonly ManagedProject[]> {
    const rows = await this.#session.select((knex) =>
      knex('projects')
        .modify((query) => {
          if (after !== null) query.where('id', '>', after);
        })
        .select(COLUMN_NAMES)
        .orderBy('id')
        .limit(limit),
    );
    return rows.map(managedFrom);
  }

  async save(projects: readonly ManagedProject[]): Promise<void> {
    await this.#session.update(
      SAVE,
      projects.map(({ id, name, settings, archivedAt }) => ({
        id,
        name,
        settings: JSON.stringify(settings),
        archived_at: archivedAt,
      })),
    );
  }

  async keysOf(projectId: string, before: KeyPlace | null, limit: number): Promise<readonly ProjectKey[]> {
    const rows = await this.#session.select((knex) =>
      keysWithUses(knex)
        .where({ project_id: projectId })
        .modify((query) => {
          if (before === null) return;
          query.whereRaw('(created_at, api_keys.digest) < (?, ?)', [before.createdAt, before.digest]);
        })
        .orderBy([
          { column: 'created_at', order: 'desc' },
          { column: 'api_keys.digest', order: 'desc' },
        ])
        .limit(limit),
    );
    return rows.map(keyFrom);
  }

  async workingKeysOf(projectId: string, now: number, limit: number): Promise<readonly ProjectKey[]> {
    const rows = await this.#session.select((knex) =>
      keysWithUses(knex)
        .where({ project_id: projectId })
        .whereNull('revoked_at')
        .where((any) => any.whereNull('ends_at').orWhere('ends_at', '>', now))
        .orderBy([{ column: 'created_at' }, { column: 'api_keys.digest' }])
        .limit(limit),
    );
    return rows.map(keyFrom);
  }

  async keyOf(projectId: string, digestStart: string): Promise<ProjectKey | null> {
    const [row] = await this.#session.select((knex) =>
      keysWithUses(knex)
        .where({ project_id: projectId })
        .where('api_keys.digest', '>=', digestStart)
        .where('api_keys.digest', '<', digestStart + AFTER_HEX)
        .orderBy('api_keys.digest')
        .limit(1),
    );
    return row === undefined ? null : keyFrom(row);
  }

  async saveKeys(keys: readonly ProjectKey[]): Promise<void> {
    await this.#session.update(
      SAVE_KEYS,
      keys.map(({ digest, endsAt, revokedAt }) => ({ digest, ends_at: endsAt, revoked_at: revokedAt })),
    );
  }

  async noteKeyUses(
    uses: readonly { readonly digest: string; readonly lastUsedAt: number }[],
  ): Promise<void> {
    await this.#session.insert(
      NOTE_KEY_USES,
      uses.map(({ digest, lastUsedAt }) => ({ digest, last_used_at: lastUsedAt })),
    );
  }
}

function keysWithUses(knex: Knex): Knex.QueryBuilder {
  return knex('api_keys')
    .leftJoin('api_key_uses', 'api_key_uses.digest', 'api_keys.digest')
    .select(
      'api_keys.digest',
      'project_id',
      'created_at',
      'last_four',
      'ends_at',
      'revoked_at',
      'last_used_at',
    );
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
    settings: readSettings(row.settings as string),
  };
}

function managedFrom(row: Row): ManagedProject {
  return { ...fromRow(row), archivedAt: row.archived_at as number | null };
}

function keyFrom(row: Row): ProjectKey {
  return {
    digest: row.digest as string,
    projectId: row.project_id as string,
    createdAt: row.created_at as number,
    lastFour: row.last_four as string | null,
    endsAt: row.ends_at as number | null,
    revokedAt: row.revoked_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
  };
}

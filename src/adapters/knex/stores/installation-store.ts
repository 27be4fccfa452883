import type { InstallationStore } from '../../../application/ports/stores/installation-store.ts';
import { invariant } from '../../../domain/shared/invariant.ts';
import type { Insert } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT_ONCE = {
  table: 'installation',
  columns: { name: 'text', value: 'text' },
  orderBy: 'name',
  onConflict: 'ON CONFLICT (name) DO NOTHING',
} as const satisfies Insert<string>;

const UPSERT = {
  ...INSERT_ONCE,
  onConflict: 'ON CONFLICT (name) DO UPDATE SET value = excluded.value',
} as const satisfies Insert<string>;

export class SqlInstallationStore implements InstallationStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async getOrCreate(name: string, value: string): Promise<string> {
    await this.#session.insert(INSERT_ONCE, [{ name, value }]);
    const [row] = await this.#session.select((knex) => knex('installation').where({ name }).select('value'));
    invariant(row !== undefined, 'a value that was just inserted is there');
    return row.value as string;
  }

  async find(name: string): Promise<string | null> {
    const [row] = await this.#session.query('SELECT value FROM installation WHERE name = ?', [name]);
    return row === undefined ? null : (row.value as string);
  }

  async set(name: string, value: string): Promise<void> {
    await this.#session.insert(UPSERT, [{ name, value }]);
  }
}

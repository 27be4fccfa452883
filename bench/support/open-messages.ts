import { setTimeout as sleep } from 'node:timers/promises';
import knex from 'knex';

const POLL_MS = 20;
const SQLITE = 'sqlite:';

/** The messages of a service, read by the bench's own process: asked for them, a service spent a twentieth of its time on that. */
export class OpenMessages {
  readonly #database: knex.Knex;
  /** Every message before this one is final. */
  #oldestOpen = '';

  constructor(databaseUrl: string) {
    this.#database = knex(settingsOf(databaseUrl));
  }

  /** Resolves to true when every message that is stored is final, and to false when one is not after `waitMs`. */
  async end(waitMs: number): Promise<boolean> {
    const deadline = performance.now() + waitMs;
    while (await this.#exist()) {
      if (performance.now() > deadline) return false;
      await sleep(POLL_MS);
    }
    return true;
  }

  async close(): Promise<void> {
    await this.#database.destroy();
  }

  async #exist(): Promise<boolean> {
    const open = await this.#database('messages')
      .where('sms_id', '>=', this.#oldestOpen)
      .where('is_final', 0)
      .orderBy('sms_id')
      .first<{ readonly sms_id: string } | undefined>('sms_id');
    if (open !== undefined) this.#oldestOpen = open.sms_id;
    return open !== undefined;
  }
}

function settingsOf(databaseUrl: string): knex.Knex.Config {
  if (!databaseUrl.startsWith(SQLITE)) return { client: 'pg', connection: databaseUrl };
  const filename = databaseUrl.slice(SQLITE.length);
  return {
    client: 'better-sqlite3',
    connection: { filename, options: { readonly: true } },
    useNullAsDefault: true,
  };
}

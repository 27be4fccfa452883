import type { Knex } from 'knex';
import type { Connection } from './connection.ts';
import type { Dialect, PostgresConfig, TableWords } from './dialect.ts';

export class PostgresDialect implements Dialect {
  readonly tableWords: TableWords = { key: 'text COLLATE "C"', clustered: '' };

  constructor(_: PostgresConfig) {}
  knexConfig(): Knex.Config {
    throw new Error('not yet');
  }
  connectionOf(): Connection {
    throw new Error('not yet');
  }
  async takeMigrationTurn(): Promise<void> {}
  isConflict(): boolean {
    return false;
  }
  async close(): Promise<void> {}
}

import { ContainerModule } from 'inversify';
import type { DatabaseConfig } from '../../adapters/knex/database.ts';
import { type Database, openDatabase } from '../../adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../adapters/knex/unit-of-work.ts';
import { adapters, ports } from '../tokens.ts';

/** The stores, on SQLite or PostgreSQL. */
export const persistence = (config: DatabaseConfig) =>
  new ContainerModule(({ bind }) => {
    bind(adapters.database).toResolvedValue(() => openDatabase(config));
    bind(ports.unitOfWork).toResolvedValue(
      (database: Database) => new SqlUnitOfWork(database),
      [adapters.database],
    );
  });

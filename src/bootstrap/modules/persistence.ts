import { ContainerModule } from 'inversify';
import type { DatabaseConfig } from '../../adapters/knex/database.ts';
import { type Database, openDatabase } from '../../adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../adapters/knex/unit-of-work.ts';
import { timedTimeout } from '../../adapters/timer/timed-timeout.ts';
import { messageOf } from '../../application/errors/error-text.ts';
import { MinuteLog } from '../../application/minute-log.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { SliceBudget } from '../../application/retention/slices.ts';
import { adapters, ports } from '../tokens.ts';

interface RetentionBudget extends SliceBudget {
  /** The wait behind a slice, in milliseconds. */
  readonly delayMs: number;
}

/** SQLite has one connection: a slice keeps every send waiting. */
const SQLITE_BUDGET: RetentionBudget = { workMs: 15, rowsMax: 1_000, delayMs: 60 };
/** PostgreSQL works in a process of its own, and a slice locks old messages only: a send waits for the CPU alone. */
const POSTGRES_BUDGET: RetentionBudget = { workMs: 50, rowsMax: 1_000, delayMs: 10 };

/** The stores, on SQLite or PostgreSQL. */
export const persistence = (config: DatabaseConfig) =>
  new ContainerModule(({ bind }) => {
    bind(adapters.database).toResolvedValue(
      (clock: Clock, logger: Logger) => openDatabase(withLog(config, new MinuteLog({ clock, logger }))),
      [ports.clock, ports.logger],
    );
    const { delayMs, ...sliceBudget } = config.kind === 'sqlite' ? SQLITE_BUDGET : POSTGRES_BUDGET;
    bind(ports.sliceBudget).toConstantValue(sliceBudget);
    bind(ports.sliceDelay).toConstantValue(timedTimeout(delayMs));
    bind(ports.unitOfWork).toResolvedValue(
      (database: Database) => new SqlUnitOfWork(database),
      [adapters.database],
    );
  });

function withLog(config: DatabaseConfig, log: MinuteLog): DatabaseConfig {
  if (config.kind !== 'sqlite') return config;
  return {
    ...config,
    onCheckpointerFailed: (error) => log.warn('checkpointer_failed', { reason: messageOf(error) }),
  };
}

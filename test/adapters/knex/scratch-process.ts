/** A process of its own that takes a scratch database, says where it is, and keeps it until the process is killed. */
import type { DatabaseConfig } from '../../../src/adapters/knex/database.ts';
import { takeScratchDatabase } from '../../../src/adapters/knex/scratch-database.ts';

const { config } = await takeScratchDatabase(JSON.parse(process.argv[2] ?? '') as DatabaseConfig);
process.send?.(config.kind === 'postgres' ? config.schema : config.filename);

/** A process of its own that brings a database to the current version, once its parent lets it. */
import { once } from 'node:events';
import type { DatabaseConfig } from '../../../src/adapters/knex/database.ts';
import { openDatabase } from '../../../src/adapters/knex/database.ts';

const database = openDatabase(JSON.parse(process.argv[2] ?? '') as DatabaseConfig);
process.send?.('ready');
await once(process, 'message');
await database.migrate();
await database.close();
process.disconnect();

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Database, openDatabase } from '../../../../src/adapters/knex/database.ts';
import { PLANS_KEPT_MS } from '../../../../src/adapters/knex/postgres/postgres-connection.ts';
import { SqlUnitOfWork } from '../../../../src/adapters/knex/unit-of-work.ts';
import type { PhoneNumber } from '../../../../src/domain/shared/phone-number.ts';
import { aMessage, anSmsId, aProject, NOW } from '../../../support/builders.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const SCHEMA = `plans_${process.pid}`;
/** From so many executions on PostgreSQL may keep the plan of a prepared statement. */
const EXECUTIONS = 10;
const MESSAGES = 3_000;

describe.skipIf(POSTGRES_URL === undefined)(
  `plans of PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    let database: Database;
    let unitOfWork: SqlUnitOfWork;

    beforeAll(async () => {
      const url = POSTGRES_URL ?? '';
      database = openDatabase({
        kind: 'postgres',
        url,
        schema: SCHEMA,
        poolSize: 1,
        statementTimeoutMs: 20_000,
      });
      await database.migrate();
      await database.knex.raw('ALTER TABLE messages SET (autovacuum_enabled = false)');
      unitOfWork = new SqlUnitOfWork(database);
      await unitOfWork.run(({ projects }) => projects.insert([aProject()]));
    });
    afterAll(async () => {
      await database?.knex.raw(`DROP SCHEMA ${SCHEMA} CASCADE`);
      await database?.close();
    });

    const insert = (first: number, count: number) =>
      unitOfWork.run(({ messages }) =>
        messages.insert(
          Array.from({ length: count }, (_, index) => {
            const phoneNumber = String(9_647_700_000_000 + first + index) as PhoneNumber;
            return aMessage({ smsId: anSmsId(first + index), phoneNumber, createdAt: NOW + first + index });
          }),
        ),
      );

    const acceptedAt = (index: number) =>
      unitOfWork.run(({ messages }) => {
        const phoneNumber = String(9_647_700_000_000 + index) as PhoneNumber;
        return messages.acceptedAt([
          { projectId: aMessage().projectId, phoneNumber, since: NOW, until: NOW + 1_000, limit: 5 },
        ]);
      });

    /** How many entries of indexes of messages were read so far. */
    async function entriesRead(): Promise<number> {
      const { rows } = await database.knex
        .raw(`SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()`)
        .then(() =>
          database.knex.raw(
            "SELECT SUM(idx_tup_read) AS n FROM pg_stat_user_indexes WHERE schemaname = ? AND relname = 'messages'",
            [SCHEMA],
          ),
        );
      return Number(rows[0].n);
    }

    it('the recent sends of a number are found by its index, also when the first ones were looked up in a small table', async () => {
      await insert(1, 40);
      await database.knex.raw('ANALYZE messages');
      for (let index = 1; index <= EXECUTIONS; index += 1) await acceptedAt(index);
      await insert(41, MESSAGES);
      const later = performance.now() + PLANS_KEPT_MS;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
      onTestFinished(() => clock.mockRestore());
      const before = await entriesRead();
      expect(await acceptedAt(41)).toEqual([[NOW + 41]]);
      expect((await entriesRead()) - before).toBeLessThan(100);
    });
  },
);

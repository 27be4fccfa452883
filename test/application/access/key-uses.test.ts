import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { HmacKeyHasher } from '../../../src/adapters/node/hmac-key-hasher.ts';
import { KeyUses } from '../../../src/application/access/key-uses.ts';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import { aProject, NOW, PROJECT_ID } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const MINUTE = 60_000;
const FIRST = `sk_live_${'a'.repeat(40)}`;
const SECOND = `sk_live_${'b'.repeat(40)}`;
const keyHasher = new HmacKeyHasher({ secretKey: Buffer.alloc(32, 1) });

let database: Database;
let clock: { at: number; now: () => number };
let logger: RecordingLogger;
/** The functions that wait for the interval. */
let expired: (() => void)[];
let writes: number;
let isAway: boolean;
let uses: KeyUses;

beforeEach(async () => {
  database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
  await database.migrate();
  clock = { at: NOW, now: () => clock.at };
  logger = new RecordingLogger();
  expired = [];
  writes = 0;
  isAway = false;
  const unitOfWork = new SqlUnitOfWork(database);
  await unitOfWork.run(async ({ projects }) => {
    await projects.insert([aProject()]);
    await projects.insertKeys(
      [FIRST, SECOND].map((key) => ({
        digest: keyHasher.digest(key),
        hasChecksum: false,
        projectId: PROJECT_ID,
        createdAt: NOW,
        lastFour: key.slice(-4),
      })),
    );
  });
  uses = new KeyUses({
    unitOfWork: {
      run(work, durability) {
        writes += 1;
        return isAway ? Promise.reject(new StorageUnavailable('away')) : unitOfWork.run(work, durability);
      },
      read: (work) => unitOfWork.read(work),
      ping: () => unitOfWork.ping(),
    },
    keyHasher,
    keyUseInterval(over) {
      expired.push(over);
      return () => {
        expired = expired.filter((each) => each !== over);
      };
    },
    clock,
    logger,
  });
});

afterEach(() => database.close());

/** When the first and the second key were used last, as it is stored. */
async function stored(): Promise<readonly unknown[]> {
  const rows = await database
    .knex('api_keys')
    .leftJoin('api_key_uses', 'api_key_uses.digest', 'api_keys.digest')
    .select('last_used_at')
    .orderBy('last_four');
  return rows.map(({ last_used_at: at }) => at);
}

it('the last use of each key is stored once after an interval, however often it was used', async () => {
  for (const at of [0, 10, 20]) {
    clock.at = NOW + at;
    uses.note(FIRST);
  }
  expect([await stored(), writes, expired.length]).toEqual([[null, null], 0, 1]);
  expired.shift()?.();
  await uses.write();
  expect([await stored(), writes]).toEqual([[NOW + 20, null], 1]);
});

it('each interval with uses has one write, and one without has none', async () => {
  uses.note(FIRST);
  expired.shift()?.();
  await uses.write();
  expect(expired).toEqual([]);
  clock.at = NOW + MINUTE;
  uses.note(FIRST);
  uses.note(SECOND);
  expired.shift()?.();
  await uses.write();
  expect([await stored(), writes]).toEqual([[NOW + MINUTE, NOW + MINUTE], 2]);
});

it('what was noted is stored at the stop, and nothing waits after it', async () => {
  uses.note(SECOND);
  await uses.stop();
  uses.note(FIRST);
  expect([await stored(), expired]).toEqual([[null, NOW], []]);
});

it('uses that cannot be stored are logged and stored later, unless a newer one came', async () => {
  isAway = true;
  uses.note(FIRST);
  uses.note(SECOND);
  const failing = uses.write();
  await failing;
  expect(logger.entries.map(({ event }) => event)).toEqual(['key_uses_not_stored']);
  isAway = false;
  clock.at = NOW + 5;
  uses.note(SECOND);
  await uses.write();
  expect(await stored()).toEqual([NOW, NOW + 5]);
});

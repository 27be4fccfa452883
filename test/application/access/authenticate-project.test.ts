import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { HmacKeyHasher } from '../../../src/adapters/node/hmac-key-hasher.ts';
import { AuthenticateProject } from '../../../src/application/access/authenticate-project.ts';
import {
  CachedProjectKeys,
  StoredProjectKeys,
  UNKNOWN_KEY_QUERIES_MAX,
  UNKNOWN_KEY_QUERIES_PER_ADDRESS_MAX,
} from '../../../src/application/access/project-keys.ts';
import { Rejected } from '../../../src/application/errors/rejected.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { SETTINGS_FRESH_MS } from '../../../src/application/read-through-cache.ts';
import { DEMO_API_KEY } from '../../../src/bootstrap/config/demo-seed.ts';
import { newApiKey } from '../../../src/domain/access/api-key.ts';
import { hasChecksum } from '../../../src/domain/shared/checksum.ts';
import { aProject, HOUR_MS, NOW, PROJECT_ID } from '../../support/builders.ts';
import { LIVE_KEY } from '../../support/seeds.ts';

const NETWORK = '192.0.2.1';
const OTHER_KEY = `sk_live_${'f'.repeat(40)}`;

describe('AuthenticateProject', () => {
  const keyHasher = new HmacKeyHasher({ secretKey: Buffer.alloc(32, 1) });
  const NEW_KEY = newApiKey('live', '0'.repeat(32), keyHasher.checksum);
  let database: Database;
  let now = NOW;
  let gate: Promise<void>;
  let openGate: () => void;
  let reads: number;
  let used: string[];
  let authenticate: AuthenticateProject;

  const addKey = (apiKey: string) =>
    new SqlUnitOfWork(database).run((stores) =>
      stores.projects.insertKeys([
        {
          digest: keyHasher.digest(apiKey),
          hasChecksum: hasChecksum(apiKey, keyHasher.checksum),
          projectId: PROJECT_ID,
          lastFour: null,
          createdAt: NOW,
        },
      ]),
    );
  const withdrawKey = (apiKey: string) =>
    database
      .knex('api_keys')
      .where({ digest: keyHasher.digest(apiKey) })
      .delete();

  beforeEach(async () => {
    now = NOW;
    reads = 0;
    used = [];
    gate = Promise.resolve();
    database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
    await database.migrate();
    const unitOfWork = new SqlUnitOfWork(database);
    await unitOfWork.run((stores) => stores.projects.insert([aProject()]));
    await addKey(LIVE_KEY);
    const gated: UnitOfWork = {
      run: (work, durability) => unitOfWork.run(work, durability),
      read: async (work) => {
        reads += 1;
        await gate;
        return unitOfWork.read(work);
      },
      ping: () => unitOfWork.ping(),
    };
    const source = new StoredProjectKeys({ unitOfWork: gated, keyHasher, clock: { now: () => now } });
    const projectKeys = new CachedProjectKeys({ source, keyHasher, clock: { now: () => now } });
    authenticate = new AuthenticateProject({ projectKeys, keyUses: { note: (apiKey) => used.push(apiKey) } });
  });

  afterEach(() => database.close());

  it('AuthenticateProject notes the use of a key that is accepted, and of no other', async () => {
    await authenticate.execute(LIVE_KEY, NETWORK);
    await outcomeOf(LIVE_KEY.replace('live', 'dev'));
    expect(used).toEqual([LIVE_KEY]);
  });

  /** The read that began in the background ends. */
  const untilUnauthorized = async (apiKey: string) => {
    while ((await outcomeOf(apiKey)) !== 'unauthorized') await setImmediate();
  };
  const closeGate = () => {
    gate = new Promise((resolve) => {
      openGate = resolve;
    });
  };
  const unknownKey = (index: number) => `sk_live_${index.toString(16).padStart(40, '0')}`;
  /** From as many networks as it takes. */
  const manyUnknownKeys = () =>
    Array.from({ length: UNKNOWN_KEY_QUERIES_MAX }, (_, index) =>
      outcomeOf(unknownKey(index), `network ${Math.floor(index / UNKNOWN_KEY_QUERIES_PER_ADDRESS_MAX)}`),
    );

  const outcomeOf = (apiKey: string | null, network = NETWORK) =>
    authenticate.execute(apiKey, network).then(
      () => 'accepted',
      (error: unknown) => (error instanceof Rejected ? error.rejection.kind : error),
    );

  it('AuthenticateProject finds the project of a key', async () => {
    expect(await authenticate.execute(LIVE_KEY, NETWORK)).toEqual(aProject());
  });

  it('AuthenticateProject rejects a missing key, an unknown key, and a key whose prefix names another environment', async () => {
    await addKey(DEMO_API_KEY);
    expect(await outcomeOf(null)).toBe('unauthorized');
    expect(await outcomeOf(OTHER_KEY)).toBe('unauthorized');
    expect(await outcomeOf(DEMO_API_KEY)).toBe('unauthorized');
  });

  it('AuthenticateProject uses the settings of a project for two seconds, and not one millisecond longer', async () => {
    expect(SETTINGS_FRESH_MS).toBe(2_000);
    await authenticate.execute(LIVE_KEY, NETWORK);
    await database.knex('projects').update({ name: 'Renamed' });
    now = NOW + 1_999;
    expect((await authenticate.execute(LIVE_KEY, NETWORK)).name).toBe('Demo');
    now = NOW + 2_000;
    expect((await authenticate.execute(LIVE_KEY, NETWORK)).name).toBe('Renamed');
  });

  it('AuthenticateProject rejects a withdrawn key after two seconds, and for good', async () => {
    await authenticate.execute(LIVE_KEY, NETWORK);
    await withdrawKey(LIVE_KEY);
    now = NOW + 1_999;
    expect(await outcomeOf(LIVE_KEY)).toBe('accepted');
    now = NOW + 2_000;
    expect(await outcomeOf(LIVE_KEY)).toBe('unauthorized');
    expect(await outcomeOf(LIVE_KEY)).toBe('unauthorized');
  });

  it('AuthenticateProject does not remember that a key is unknown', async () => {
    expect(await outcomeOf(OTHER_KEY)).toBe('unauthorized');
    await addKey(OTHER_KEY);
    expect(await outcomeOf(OTHER_KEY)).toBe('accepted');
  });

  it('AuthenticateProject reads a key once for all requests that bring it meanwhile', async () => {
    await outcomeOf(OTHER_KEY);
    reads = 0;
    used = [];
    closeGate();
    const known = Array.from({ length: 500 }, () => authenticate.execute(LIVE_KEY, NETWORK));
    const unknown = Array.from({ length: 500 }, () => outcomeOf(OTHER_KEY));
    await setImmediate();
    expect(reads).toBe(2);
    openGate();
    expect(await Promise.all(known)).toEqual(Array.from({ length: 500 }, () => aProject()));
    expect(new Set(await Promise.all(unknown))).toEqual(new Set(['unauthorized']));
    expect(reads).toBe(2);
  });

  it('AuthenticateProject reads a hundred unknown keys at a time, and rejects more as overloaded', async () => {
    expect(UNKNOWN_KEY_QUERIES_MAX).toBe(100);
    await outcomeOf(OTHER_KEY);
    reads = 0;
    used = [];
    closeGate();
    const unknown = manyUnknownKeys();
    expect(await outcomeOf(OTHER_KEY)).toBe('overloaded');
    expect(await outcomeOf(LIVE_KEY)).toBe('overloaded');
    const again = outcomeOf(unknownKey(0));
    expect(reads).toBe(100);
    openGate();
    expect(new Set(await Promise.all([...unknown, again]))).toEqual(new Set(['unauthorized']));
    expect(await outcomeOf(OTHER_KEY)).toBe('unauthorized');
    expect(await outcomeOf(LIVE_KEY)).toBe('accepted');
  });

  it('AuthenticateProject reads twenty unknown keys of one network at a time, and those of other networks beside them', async () => {
    expect(UNKNOWN_KEY_QUERIES_PER_ADDRESS_MAX).toBe(20);
    await outcomeOf(OTHER_KEY);
    reads = 0;
    used = [];
    closeGate();
    const ofOne = Array.from({ length: 30 }, (_, index) => outcomeOf(unknownKey(index), 'one network'));
    expect(await Promise.all(ofOne.slice(20))).toEqual(Array.from({ length: 10 }, () => 'overloaded'));
    const ofAnother = outcomeOf(LIVE_KEY, 'another network');
    await setImmediate();
    expect(reads).toBe(21);
    openGate();
    expect(await ofAnother).toBe('accepted');
    expect(new Set(await Promise.all(ofOne.slice(0, 20)))).toEqual(new Set(['unauthorized']));
    expect(await outcomeOf(unknownKey(30), 'one network')).toBe('unauthorized');
  });

  it('AuthenticateProject knows a key as long as the database is away, and reads it again afterwards', async () => {
    await outcomeOf(LIVE_KEY);
    gate = Promise.reject(new Error('away'));
    now = NOW + 2_000;
    expect(await outcomeOf(LIVE_KEY)).toBe('accepted');
    expect(await outcomeOf(OTHER_KEY)).toEqual(new Error('away'));
    // A database that does not even say that it is away.
    closeGate();
    now = NOW + HOUR_MS;
    expect(await outcomeOf(LIVE_KEY)).toBe('accepted');
    await withdrawKey(LIVE_KEY);
    openGate();
    await untilUnauthorized(LIVE_KEY);
    expect(await outcomeOf(LIVE_KEY)).toBe('unauthorized');
  });

  it('AuthenticateProject does not let a known key wait behind unknown keys', async () => {
    await authenticate.execute(LIVE_KEY, NETWORK);
    closeGate();
    const unknown = manyUnknownKeys();
    now = NOW + 1_999;
    expect(await outcomeOf(LIVE_KEY)).toBe('accepted');
    now = NOW + 2_000;
    const readAnew = outcomeOf(LIVE_KEY);
    openGate();
    expect(await readAnew).toBe('accepted');
    await Promise.all(unknown);
  });

  it('AuthenticateProject rejects every made-up key without a query of its own when all keys have a checksum', async () => {
    await withdrawKey(LIVE_KEY);
    await addKey(NEW_KEY);
    const madeUp = Array.from({ length: 500 }, (_, index) => outcomeOf(unknownKey(index)));
    expect(new Set(await Promise.all(madeUp))).toEqual(new Set(['unauthorized']));
    // The one query asks whether there are keys without a checksum.
    expect(reads).toBe(1);
    expect(await outcomeOf(NEW_KEY)).toBe('accepted');
    expect(await outcomeOf(`${NEW_KEY.slice(0, -1)}${NEW_KEY.endsWith('0') ? '1' : '0'}`)).toBe(
      'unauthorized',
    );
    expect(reads).toBe(2);
  });

  it('AuthenticateProject accepts keys without a checksum that are stored beside keys that have one', async () => {
    await addKey(NEW_KEY);
    expect(await outcomeOf(NEW_KEY)).toBe('accepted');
    expect(await outcomeOf(LIVE_KEY)).toBe('accepted');
    expect(await outcomeOf(OTHER_KEY)).toBe('unauthorized');
  });

  it('AuthenticateProject reads a key with a checksum while too many made-up keys are being read', async () => {
    await addKey(NEW_KEY);
    await outcomeOf(OTHER_KEY);
    closeGate();
    const unknown = manyUnknownKeys();
    const first = outcomeOf(NEW_KEY);
    expect(await outcomeOf(OTHER_KEY)).toBe('overloaded');
    openGate();
    expect(await first).toBe('accepted');
    await Promise.all(unknown);
  });

  it('AuthenticateProject reads a key again after a query that failed', async () => {
    gate = Promise.reject(new Error('away'));
    for (let time = 0; time < 2; time += 1) {
      const failures = await Promise.all(manyUnknownKeys());
      expect(failures).toEqual(Array.from({ length: 100 }, () => new Error('away')));
    }
    gate = Promise.resolve();
    expect(await outcomeOf(LIVE_KEY)).toBe('accepted');
  });

  it('AuthenticateProject rejects a key of another environment each time, however many requests bring it', async () => {
    await addKey(DEMO_API_KEY);
    const outcomes = await Promise.all(Array.from({ length: 3 }, () => outcomeOf(DEMO_API_KEY)));
    expect([...outcomes, await outcomeOf(DEMO_API_KEY)]).toEqual(
      Array.from({ length: 4 }, () => 'unauthorized'),
    );
  });
});

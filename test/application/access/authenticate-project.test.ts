import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { KnexUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { HmacKeyHasher } from '../../../src/adapters/node/hmac-key-hasher.ts';
import { AuthenticateProject } from '../../../src/application/access/authenticate-project.ts';
import { SETTINGS_FRESH_MS } from '../../../src/application/catalog/price-book.ts';
import { Refused } from '../../../src/application/refused.ts';
import { aProject, DEV_KEY, LIVE_KEY, NOW, PROJECT_ID } from '../../support/builders.ts';

const OTHER_KEY = `sk_live_${'f'.repeat(40)}`;

describe('AuthenticateProject', () => {
  const keyHasher = new HmacKeyHasher({ secretKey: Buffer.alloc(32, 1) });
  let database: Database;
  let now = NOW;
  let authenticate: AuthenticateProject;

  const addKey = (apiKey: string) =>
    new KnexUnitOfWork(database).run((stores) =>
      stores.projects.insertKeys([
        { digest: keyHasher.digest(apiKey), projectId: PROJECT_ID, createdAt: NOW },
      ]),
    );
  const withdrawKey = (apiKey: string) =>
    database
      .knex('api_keys')
      .where({ digest: keyHasher.digest(apiKey) })
      .delete();

  beforeEach(async () => {
    now = NOW;
    database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
    await database.migrate();
    const unitOfWork = new KnexUnitOfWork(database);
    await unitOfWork.run((stores) => stores.projects.insert([aProject()]));
    await addKey(LIVE_KEY);
    authenticate = new AuthenticateProject({ unitOfWork, keyHasher, clock: { now: () => now } });
  });

  afterEach(() => database.close());

  const refusalOf = (apiKey: string | null) =>
    authenticate.execute(apiKey).then(
      () => 'accepted',
      (error: unknown) => (error instanceof Refused ? error.refusal.kind : error),
    );

  it('knows the project of a key', async () => {
    expect(await authenticate.execute(LIVE_KEY)).toEqual(aProject());
  });

  it('refuses no key, an unknown one, and one whose prefix names another environment', async () => {
    await addKey(DEV_KEY);
    expect(await refusalOf(null)).toBe('unauthorized');
    expect(await refusalOf(OTHER_KEY)).toBe('unauthorized');
    expect(await refusalOf(DEV_KEY)).toBe('unauthorized');
  });

  it('may use what it read for five seconds, and not one millisecond longer', async () => {
    expect(SETTINGS_FRESH_MS).toBe(5_000);
    await authenticate.execute(LIVE_KEY);
    await database.knex('projects').update({ name: 'Renamed' });
    now = NOW + 4_999;
    expect((await authenticate.execute(LIVE_KEY)).name).toBe('Demo');
    now = NOW + 5_000;
    expect((await authenticate.execute(LIVE_KEY)).name).toBe('Renamed');
  });

  it('refuses a withdrawn key after the same time, and for good', async () => {
    await authenticate.execute(LIVE_KEY);
    await withdrawKey(LIVE_KEY);
    now = NOW + 4_999;
    expect(await refusalOf(LIVE_KEY)).toBe('accepted');
    now = NOW + 5_000;
    expect(await refusalOf(LIVE_KEY)).toBe('unauthorized');
    expect(await refusalOf(LIVE_KEY)).toBe('unauthorized');
  });

  it('never remembers that a key is unknown', async () => {
    expect(await refusalOf(OTHER_KEY)).toBe('unauthorized');
    await addKey(OTHER_KEY);
    expect(await refusalOf(OTHER_KEY)).toBe('accepted');
  });
});

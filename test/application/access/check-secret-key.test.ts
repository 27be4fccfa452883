import { afterEach, expect, it } from 'vitest';
import { CheckSecretKey, WrongSecretKey } from '../../../src/application/access/check-secret-key.ts';
import type { KeyHasher } from '../../../src/application/ports/key-hasher.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';

let world: ApplicationWorld;

afterEach(() => world.close());

/** Hashes under the secret key `key`. */
const hasherOf = (key: string): Pick<KeyHasher, 'digest'> => ({ digest: (text) => `${key}(${text})` });

it('CheckSecretKey lets a process start only with the secret key of the first process', async () => {
  world = await openApplication();
  const { unitOfWork } = world;
  const start = (key: string) => new CheckSecretKey({ unitOfWork, keyHasher: hasherOf(key) }).execute();
  await start('first');
  await expect(start('first')).resolves.toBeUndefined();
  await expect(start('second')).rejects.toThrow(new WrongSecretKey());
  await expect(start('second')).rejects.toMatchObject({
    name: 'WrongSecretKey',
    message: 'The database was filled under another secret key',
  });
});

it('CheckSecretKey stores a digest under a name of its own, which no API key can have', async () => {
  world = await openApplication();
  const { unitOfWork } = world;
  await new CheckSecretKey({ unitOfWork, keyHasher: hasherOf('k') }).execute();
  expect(await world.database.knex('installation').select()).toEqual([
    { name: 'secret-key', value: 'k(which secret key is this)' },
  ]);
});

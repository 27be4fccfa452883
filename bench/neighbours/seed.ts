import { HmacKeyHasher } from '../../src/adapters/node/hmac-key-hasher.ts';
import type { SeedFile } from '../../src/bootstrap/seed-file.ts';
import { newApiKey } from '../../src/domain/access/api-key.ts';
import { whatsappLoadSeed } from '../../test/support/load-seed.ts';
import { LOAD_SECRET_KEY } from '../../test/support/load-service.ts';

/** The project whose waits are measured. */
export const NEIGHBOUR = {
  name: 'Neighbour',
  slug: 'neighbour',
  apiKey: 'sk_dev_ffeeddccbbaa99887766554433221100ffeeddcc',
} as const;

/** More than the codes of any attack that come with a key of their own. */
const FRESH_KEYS = 200;
const RANDOM_DIGITS = 32;
const CHECKSUM_OF_NOTHING = '00000000';

/** Keys of the neighbour that it has not used yet: in turn one with a checksum, as new keys have, and one without. */
export const FRESH_API_KEYS: readonly string[] = Array.from({ length: FRESH_KEYS }, (_, index) => {
  const random = index.toString(16).padStart(RANDOM_DIGITS, '0');
  const { checksum } = new HmacKeyHasher({ secretKey: LOAD_SECRET_KEY });
  return index % 2 === 0 ? newApiKey('dev', random, checksum) : `sk_dev_${random}${CHECKSUM_OF_NOTHING}`;
});

/** The project of every bench, which attacks, and a neighbour. */
export function neighbourSeed(): SeedFile {
  const { projects, ...rest } = whatsappLoadSeed(undefined, 'TIER_UNLIMITED');
  const { name, slug, apiKey } = NEIGHBOUR;
  const apiKeys = [apiKey, ...FRESH_API_KEYS];
  return {
    ...rest,
    projects: [...projects, { name, slug, environment: 'dev', apiKeys, credit: 1_000_000 }],
  };
}

import type { SeedFile } from '../../src/bootstrap/seed-file.ts';
import { whatsappLoadSeed } from '../../test/support/load-seed.ts';

/** The project whose waits are measured. */
export const NEIGHBOUR = {
  name: 'Neighbour',
  slug: 'neighbour',
  apiKey: 'sk_dev_ffeeddccbbaa99887766554433221100ffeeddcc',
} as const;

/** The project of every bench, which attacks, and a neighbour. */
export function neighbourSeed(): SeedFile {
  const { projects, ...rest } = whatsappLoadSeed(undefined, 'TIER_UNLIMITED');
  const { name, slug, apiKey } = NEIGHBOUR;
  return {
    ...rest,
    projects: [...projects, { name, slug, environment: 'dev', apiKeys: [apiKey], credit: 1_000_000 }],
  };
}

import type { SeedFile } from '../../src/bootstrap/seed-file.ts';

/** The key of the only project. Benches against another checkout send the same one. */
export const LOAD_API_KEY = 'sk_dev_00112233445566778899aabbccddeeff00112233';

const RICH_IQD = 1_000_000_000;

/** One project with the ordinary limits and that credit in IQD; it can afford everything when absent. */
export function loadSeed(creditIqd: number = RICH_IQD): SeedFile {
  const prices = { korekTelecom: 80, asiaCell: 80, zainIraq: 80, others: 100 };
  return {
    projects: [
      { name: 'Bench', slug: 'bench', environment: 'dev', apiKeys: [LOAD_API_KEY], credit: creditIqd },
    ],
    prices: { sms: prices, whatsapp: { AUTHENTICATION: 60, UTILITY: 60, MARKETING: 90 }, telegram: 40 },
  };
}

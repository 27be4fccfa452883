import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';

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

/** The key of the only project of `liveLoadSeed`. */
export const LIVE_LOAD_API_KEY = 'sk_live_00112233445566778899aabbccddeeff00112233';

/** As `loadSeed`, with a live project, whose attempts end after that many seconds without a receipt. */
export function liveLoadSeed(attemptTimeoutSeconds = 30): SeedFile {
  const seed = loadSeed();
  const live = {
    environment: 'live' as const,
    apiKeys: [LIVE_LOAD_API_KEY],
    attemptTimeoutSeconds: { verification: attemptTimeoutSeconds, other: attemptTimeoutSeconds },
  };
  return { ...seed, projects: seed.projects.map((project) => ({ ...project, ...live })) };
}

/** The number and the template that `whatsappLoadSeed` has. */
export const LOAD_NUMBER_ID = '664def456abc7890123456a1';
export const LOAD_TEMPLATE_ID = '664def456abc7890123456a2';

/** As `loadSeed`, with one whatsapp number of that limit and one template with a parameter. */
export function whatsappLoadSeed(creditIqd?: number, messagingLimit = 'TIER_100K'): SeedFile {
  const seed = loadSeed(creditIqd);
  const ids = {
    number: LOAD_NUMBER_ID,
    template: LOAD_TEMPLATE_ID,
    account: '664def456abc7890123456a3',
    business: '664def456abc7890123456a4',
  };
  const whatsapp = { businesses: [loadBusiness(ids, messagingLimit)] };
  return { ...seed, projects: seed.projects.map((project) => ({ ...project, whatsapp })) };
}

/** A whatsapp business with one number of that limit, and one template with a parameter. */
export function loadBusiness(
  ids: Readonly<Record<'number' | 'template' | 'account' | 'business', string>>,
  messagingLimit: string,
) {
  const account = {
    id: ids.account,
    whatsappBusinessId: '1',
    name: 'Bench',
    phoneNumbers: [
      {
        id: ids.number,
        phoneNumberId: '2',
        displayPhoneNumber: '2',
        phoneNumber: '+9647700000000',
        messagingLimit,
      },
    ],
    templates: [
      {
        id: ids.template,
        name: 'offer',
        category: 'MARKETING' as const,
        components: [{ type: 'BODY', text: 'Hello {{1}}, there is an offer for you.' }],
      },
    ],
  };
  return { id: ids.business, businessId: '3', name: 'Bench', whatsappAccounts: [account] };
}

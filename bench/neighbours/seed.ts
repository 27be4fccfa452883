import { HmacKeyHasher } from '../../src/adapters/node/hmac-key-hasher.ts';
import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import { newApiKey } from '../../src/domain/access/api-key.ts';
import { loadBusiness, whatsappLoadSeed } from '../../test/support/load-seed.ts';
import { LOAD_SECRET_KEY } from '../../test/support/load-service.ts';

/** The project whose waits are measured. */
export const NEIGHBOUR = {
  name: 'Neighbour',
  slug: 'neighbour',
  apiKey: 'sk_dev_ffeeddccbbaa99887766554433221100ffeeddcc',
} as const;

/** The project that reads lists: what it reads is long. */
export const LIST_READER = {
  name: 'Reader',
  slug: 'reader',
  apiKey: 'sk_dev_aabbccddeeff00112233445566778899aabbccdd',
} as const;
const LISTED_TEMPLATES = 500;
const LISTED_PRICES = 1_000;
const TEMPLATE_CHARACTERS = 500;

/** A project that runs campaigns, and what it sends them with. */
export interface Campaigner {
  readonly apiKey: string;
  readonly numberId: string;
  readonly templateId: string;
}

const ID_DIGITS = 24;
const CAMPAIGNERS_COUNT = 20;
/** Above the ids of what is listed. Each project has four. */
const CAMPAIGNER_IDS = 10_000;
const KEY_DIGITS = 40;
const UNLIMITED = 'TIER_UNLIMITED';

/** The projects that run large campaigns. */
export const CAMPAIGNERS: readonly Campaigner[] = Array.from({ length: CAMPAIGNERS_COUNT }, (_, index) => ({
  apiKey: `sk_dev_${(CAMPAIGNER_IDS + index).toString(16).padStart(KEY_DIGITS, '0')}`,
  numberId: idAt(CAMPAIGNER_IDS + 4 * index),
  templateId: idAt(CAMPAIGNER_IDS + 4 * index + 1),
}));

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

/** The project of every bench, which attacks, a neighbour, a project that reads lists, and those that run large campaigns. */
export function neighbourSeed(): SeedFile {
  const { projects, prices } = whatsappLoadSeed(undefined, UNLIMITED);
  const { name, slug, apiKey } = NEIGHBOUR;
  const apiKeys = [apiKey, ...FRESH_API_KEYS];
  return {
    prices: { ...prices, international: listedPrices() },
    projects: [
      ...projects,
      { name, slug, environment: 'dev', apiKeys, credit: 1_000_000 },
      {
        name: LIST_READER.name,
        slug: LIST_READER.slug,
        environment: 'dev',
        apiKeys: [LIST_READER.apiKey],
        whatsapp: { businesses: [listedBusiness()] },
      },
      ...CAMPAIGNERS.map(campaignerProject),
    ],
  };
}

/** Two pages of prices for numbers of one country, to which no attack sends. */
function listedPrices() {
  return Array.from({ length: LISTED_PRICES }, (_, index) => ({
    continent: 'Asia',
    countryIso: 'TR',
    countryCode: '90',
    country: 'Turkey',
    networkId: `tr_${index}`,
    network: `Network ${index}`,
    mccMnc: `286${String(index).padStart(3, '0')}`,
    price: 120,
  }));
}

function campaignerProject({ apiKey, numberId, templateId }: Campaigner, index: number) {
  const ids = {
    number: numberId,
    template: templateId,
    account: idAt(CAMPAIGNER_IDS + 4 * index + 2),
    business: idAt(CAMPAIGNER_IDS + 4 * index + 3),
  };
  return {
    name: `Campaigner ${index}`,
    slug: `campaigner-${index}`,
    environment: 'dev' as const,
    apiKeys: [apiKey],
    credit: 1_000_000_000,
    whatsapp: { businesses: [loadBusiness(ids, UNLIMITED)] },
  };
}

function listedBusiness() {
  const templates = Array.from({ length: LISTED_TEMPLATES }, (_, index) => ({
    id: idAt(index),
    name: `offer_${index}`,
    category: 'MARKETING' as const,
    components: [{ type: 'BODY', text: 'x'.repeat(TEMPLATE_CHARACTERS) }],
  }));
  const account = {
    id: idAt(LISTED_TEMPLATES),
    whatsappBusinessId: '4',
    name: 'Reader',
    phoneNumbers: [],
    templates,
  };
  return {
    id: idAt(LISTED_TEMPLATES + 1),
    businessId: '5',
    name: 'Reader',
    whatsappAccounts: [account],
  };
}

function idAt(index: number): string {
  return index.toString(16).padStart(ID_DIGITS, '0');
}

import { expect } from 'vitest';
import { DEMO_SEED } from '../../src/bootstrap/config/demo-seed.ts';
import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import type { Harness, HarnessReply } from '../../src/bootstrap/harness/harness.ts';
import { aTestNumber } from './builders.ts';
import { startService } from './running-service.ts';
import { seedWith } from './seeds.ts';

/** The ids of the demo: a UTILITY template, its number, and a template that campaigns may not send. */
export const TEMPLATE_ID = '664def456abc789012345603';
export const NUMBER_ID = '664def456abc789012345678';
export const CODE_TEMPLATE_ID = '664def456abc789012345604';
/** More of the same account: a MARKETING template with an image, and one that is not approved. */
export const SALE_TEMPLATE_ID = '664def456abc789012345605';
export const PENDING_TEMPLATE_ID = '664def456abc789012345606';
/** A MARKETING template with the same parameters as the demo's. */
export const OFFER_TEMPLATE_ID = '664def456abc789012345607';
/** A number of another account of the project. */
export const FOREIGN_NUMBER_ID = '664def456abc789012345699';
export const UNKNOWN_ID = '664def456abc7890123456ff';
/** The key of another project, which has the same whatsapp resources. */
export const OTHER_KEY = 'sk_dev_1123456789abcdef0123456789abcdef01234567';

/** IQD for a message of the category, in the demo's price list. */
export const UTILITY_PRICE = 60;
export const MARKETING_PRICE = 90;

export const CREDIT = 100_000;

const SALE = {
  id: SALE_TEMPLATE_ID,
  name: 'sale',
  category: 'MARKETING' as const,
  components: [
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: 'Everything for {{1}}.' },
  ],
};
const PENDING = {
  id: PENDING_TEMPLATE_ID,
  name: 'soon',
  category: 'UTILITY' as const,
  status: 'PENDING',
  components: [{ type: 'BODY', text: 'Not yet.' }],
};

/** The demo with more credit, more templates and a second project. `credit` is in IQD. */
export function campaignSeed(credit = CREDIT, changes: Parameters<typeof seedWith>[0] = {}): SeedFile {
  const seed = seedWith({ credit, whatsapp: { businesses: [businessWithMore()] }, ...changes });
  const [first] = seed.projects;
  if (first === undefined) throw new Error('The demo has a project');
  const other = { ...first, name: 'Other', slug: 'other', environment: 'dev' as const, apiKeys: [OTHER_KEY] };
  return { ...seed, projects: [first, other] };
}

function businessWithMore() {
  const business = DEMO_SEED.projects[0]?.whatsapp?.businesses[0];
  const account = business?.whatsappAccounts?.[0];
  const order = account?.templates?.[0];
  const number = account?.phoneNumbers?.[0];
  if (business === undefined || account === undefined || order === undefined || number === undefined) {
    throw new Error('The demo has an account with a template and a number');
  }
  const offer = { ...order, id: OFFER_TEMPLATE_ID, name: 'offer', category: 'MARKETING' as const };
  return {
    ...business,
    whatsappAccounts: [
      { ...account, templates: [...(account.templates ?? []), SALE, PENDING, offer] },
      {
        ...account,
        id: '664def456abc789012345698',
        phoneNumbers: [{ ...number, id: FOREIGN_NUMBER_ID }],
        templates: [],
      },
    ],
  };
}

/** A service with the seed of campaigns. */
export const startWithCampaigns = (
  credit = CREDIT,
  changes: Parameters<typeof seedWith>[0] = {},
): Promise<Harness> => startService({ seed: campaignSeed(credit, changes) });

export const CAMPAIGNS = '/whatsapp/campaigns';

/** When a harness starts. */
export const START = '2030-01-01T00:00:00.000Z';
export const IN_AN_HOUR = '2030-01-01T01:00:00.000Z';
export const PLAN = { scheduleType: 'schedule', scheduledFor: IN_AN_HOUR };

/** What creates a campaign of the demo's template. */
export const BODY = { name: 'Spring', templateId: TEMPLATE_ID, phoneNumberId: NUMBER_ID };
export const NUMBERS = ['9647701234561', '9647701234562', '9647701234563'] as const;

export const HEX_ID = /^[a-f0-9]{24}$/;

/** A campaign that was just created, in the form of the specification. */
export const DRAFT = {
  _id: expect.stringMatching(HEX_ID),
  campaignId: expect.stringMatching(HEX_ID),
  name: 'Spring',
  status: 'draft',
  category: 'UTILITY',
  template: TEMPLATE_ID,
  phoneNumber: NUMBER_ID,
  scheduleType: 'now',
  totalRecipients: 0,
  sentCount: 0,
  deliveredCount: 0,
  failedCount: 0,
  estimatedTotalCost: 0,
  reservedAmount: 0,
  reconciledAmount: 0,
  billingStatus: 'pending',
  isSampleCampaign: false,
  createdAt: START,
  updatedAt: START,
};
export const SCHEDULED = { ...DRAFT, status: 'scheduled', ...PLAN };

/** What the demo's template takes. */
export const PARAMETERS = { body: { 1: 'Layla', 2: 'A-17' }, buttons: { 0: { 1: 'A-17' } } };

export const recipient = (phoneNumber: string, templateParameters: unknown = PARAMETERS) => ({
  phoneNumber,
  templateParameters,
});

/** Eight messages of a number start at once, the ninth 100 ms later: until the clock moves, the campaign is running. */
export const NINE: readonly string[] = Array.from({ length: 9 }, (_, n) => aTestNumber('0001', n));

/** Numbers of the mobile operator Asiacell, the n-th and those after it. */
export const numbersFrom = (first: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `9647700${String(first + n).padStart(6, '0')}`);

/** The fields of a campaign that the tests calculate with. */
export interface CampaignBody {
  readonly _id: string;
  readonly name: string;
  readonly status: string;
  readonly totalRecipients: number;
  readonly sentCount: number;
  readonly deliveredCount: number;
  readonly failedCount: number;
  readonly reservedAmount: number;
  readonly reconciledAmount: number;
  readonly billingStatus: string;
}

export interface RecipientBody {
  readonly _id: string;
  readonly phoneNumber: string;
  readonly status: string;
  readonly smsId?: string;
  readonly finalCost?: number;
  readonly billingState: string;
  readonly errorMessage?: string;
}

/** A campaign with one page of its recipients. */
export interface CampaignDetail extends CampaignBody {
  readonly recipients: readonly RecipientBody[];
}

/** One request about a campaign; POST with a body and GET without unless a method is named. */
export function ask(
  service: Harness,
  path: string,
  request: Parameters<Harness['request']>[1] = {},
): Promise<HarnessReply> {
  return service.request(`${CAMPAIGNS}${path}`, request);
}

export const post = (service: Harness, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  ask(service, path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });

export const patch = (service: Harness, id: string, body: unknown) =>
  ask(service, `/${id}`, { method: 'PATCH', body });

export const attach = (
  service: Harness,
  id: string,
  recipients: readonly unknown[],
  headers: Record<string, string> = {},
) => post(service, `/${id}/recipients`, { recipients }, headers);

/** The data of a reply that has to be a success. */
export function dataOf<Data = CampaignBody>({ status, body }: HarnessReply): Data {
  expect({ status, body }).toMatchObject({ status: 200, body: { success: true } });
  return (body as { data: Data }).data;
}

/** Creates a campaign of the demo's template with these numbers, and returns its id. */
export async function created(
  service: Harness,
  numbers: readonly string[] = [],
  more: Record<string, unknown> = {},
): Promise<string> {
  const { _id } = dataOf(await post(service, '', { ...BODY, ...more }));
  if (numbers.length > 0)
    dataOf(
      await attach(
        service,
        _id,
        numbers.map((number) => recipient(number)),
      ),
    );
  return _id;
}

/** Creates and starts a campaign to these numbers, and returns its id. */
export async function started(
  service: Harness,
  numbers: readonly string[],
  more: Record<string, unknown> = {},
): Promise<string> {
  const id = await created(service, numbers, more);
  dataOf(await post(service, `/${id}/start`));
  return id;
}

export async function campaign(service: Harness, id: string): Promise<CampaignBody> {
  return dataOf(await ask(service, `/${id}?limit=1`));
}

/** A campaign with the first 50 of its recipients. */
export async function read(service: Harness, id: string): Promise<CampaignDetail> {
  return dataOf<CampaignDetail>(await ask(service, `/${id}`));
}

/** Every recipient of a campaign, page after page. */
export async function recipientsOf(service: Harness, id: string): Promise<readonly RecipientBody[]> {
  const pages: RecipientBody[] = [];
  for (let page = 1; ; page += 1) {
    const reply = await ask(service, `/${id}?limit=500&page=${page}`);
    const data = dataOf<{ recipients: RecipientBody[]; pagination: { pages: number } }>(reply);
    pages.push(...data.recipients);
    if (page >= data.pagination.pages) return pages;
  }
}

export async function creditOf(service: Harness): Promise<number> {
  return ((await service.request('/info')).body as { credit: number }).credit;
}

/** Status, code and body of an error. */
export function errorOf({ status, headers, body }: HarnessReply) {
  return { status, code: headers.get('x-error-code'), body };
}

/** The error of a campaign endpoint. */
export const rejection = (
  status: number,
  code: string,
  error: string,
  details: Record<string, unknown> = {},
) => ({
  status,
  code,
  body: { success: false, error, ...details },
});

export const NOT_FOUND = rejection(404, 'campaign-not-found', 'Campaign not found');
export const NOT_EDITABLE = rejection(
  400,
  'campaign-not-editable',
  'Only draft or scheduled campaigns can be updated, deleted, sampled, preflighted or given recipients',
);

/** Every request about one campaign, with a body that a draft accepts. */
export const REQUESTS = [
  ['GET', '', undefined],
  ['PATCH', '', { name: 'Autumn' }],
  ['DELETE', '', undefined],
  ['POST', '/start', undefined],
  ['POST', '/sample', { recipients: [recipient(NUMBERS[0])] }],
  ['POST', '/recipients', { recipients: [recipient(NUMBERS[0])] }],
  ['POST', '/preflight', undefined],
] as const;

/** Twelve test numbers, three of each of these outcomes: delivered, read, rejected, silent. */
export const RECIPIENT_NUMBERS: readonly string[] = Array.from({ length: 12 }, (_, n) =>
  aTestNumber(['0001', '0004', '0006', '0003'][n % 4] ?? '', n),
);

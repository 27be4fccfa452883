import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Seed, SeedProject } from '../application/seed/apply-seed.ts';
import { API_KEY_PATTERN, environmentOfKey } from '../domain/access/api-key.ts';
import { ENVIRONMENTS, IP_RULE_SCOPES } from '../domain/access/project.ts';
import { PAYMENT_TYPES } from '../domain/billing/account.ts';
import { BILLING_UNIT_RULES } from '../domain/billing/billing-units.ts';
import { SETTLEMENT_RULES } from '../domain/billing/settlement.ts';
import { SENDER_ID_CHARACTERS_MAX } from '../domain/messages/send-request.ts';
import { LANGUAGES } from '../domain/messages/verification-text.ts';
import { DEFAULT_RATE_LIMIT } from '../domain/rate-limiting/rate-limiter.ts';
import { SENDER_ID_STATUSES } from '../domain/senders/sender-id.ts';
import { iqd, isIqdAmount } from '../domain/shared/money.ts';
import { isPhoneNumber, PHONE_NUMBER_PATTERN } from '../domain/shared/phone-number.ts';

/** Verification steps wait this long for a delivered report, everything else five minutes. */
const DEFAULT_STEP_TIMEOUT_SECONDS = { verification: 30, other: 300 };
const MS_PER_SECOND = 1000;
const IQD_MAX = 1_000_000_000;

const amount = z.number().min(0).max(IQD_MAX).refine(isIqdAmount, 'has at most three decimals');
const id24 = z.string().regex(/^[0-9a-f]{24}$/, 'must be 24 lower-case hex characters');
const phoneNumber = z.string().regex(PHONE_NUMBER_PATTERN, 'must be 10 to 15 digits').refine(isPhoneNumber);
const operatorPrices = z.strictObject({
  korekTelecom: amount,
  asiaCell: amount,
  zainIraq: amount,
  others: amount,
});
const text = z.string().max(500);
const since = text.default('2024-01-01T00:00:00.000Z');

const template = z.strictObject({
  id: id24,
  name: text,
  category: text,
  parameter_format: text.default('POSITIONAL'),
  language: text.default('en'),
  status: text.default('APPROVED'),
  reason: text.default(''),
  messageSendTtlSeconds: z.number().int().default(600),
  isWhatsappFlow: z.boolean().default(false),
  createdAt: since,
  components: z
    .array(
      z.looseObject({
        type: text,
        format: text.optional(),
        text: z.string().max(5_000).optional(),
        buttons: z
          .array(z.looseObject({ type: text, text: text.optional(), url: z.string().max(2_000).optional() }))
          .optional(),
      }),
    )
    .default([]),
});

const whatsappPhoneNumber = z.strictObject({
  id: id24,
  phoneNumberId: text,
  displayPhoneNumber: text,
  phoneNumber: text,
  verifiedName: text.default(''),
  qualityRating: text.default('GREEN'),
  messagingLimit: text.default('TIER_1K'),
  status: text.default('CONNECTED'),
  codeVerificationStatus: text.default('VERIFIED'),
  nameStatus: text.default('APPROVED'),
  isOfficialBusinessAccount: z.boolean().default(false),
  createdAt: since,
});

const whatsappAccount = z.strictObject({
  id: id24,
  whatsappBusinessId: text,
  name: text,
  accountReviewStatus: text.default('APPROVED'),
  businessVerificationStatus: text.default('verified'),
  banState: text.default(''),
  banDate: text.default(''),
  violationType: text.default(''),
  createdAt: since,
  phoneNumbers: z.array(whatsappPhoneNumber).default([]),
  templates: z.array(template).default([]),
});

const business = z.strictObject({
  id: id24,
  businessId: text,
  name: text,
  createdAt: since,
  whatsappAccounts: z.array(whatsappAccount).default([]),
});

const project = z
  .strictObject({
    id: id24.optional(),
    name: z.string().min(1).max(200),
    slug: z.string().regex(/^[a-z0-9-]{1,60}$/, 'must be 1 to 60 of a-z, 0-9 and -'),
    environment: z.enum(ENVIRONMENTS),
    apiKeys: z.array(z.string().regex(API_KEY_PATTERN, 'must be sk_live_ or sk_dev_ and 40 hex characters')),
    paymentType: z.enum(PAYMENT_TYPES).default('prepaid'),
    credit: amount.default(0),
    spendingThreshold: amount.nullable().default(null),
    trial: z.strictObject({ ownPhoneNumber: phoneNumber }).nullable().default(null),
    rateLimit: z
      .strictObject({
        maxRequests: z.number().int().min(1).max(10_000),
        timeWindowMinutes: z.number().int().min(1).max(10_080),
      })
      .nullable()
      .default(DEFAULT_RATE_LIMIT),
    allowedIps: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).default([]),
    ipRuleScope: z.enum(IP_RULE_SCOPES).default('resources'),
    settlement: z.enum(SETTLEMENT_RULES).default('quoted'),
    billingUnits: z.enum(BILLING_UNIT_RULES).default('flat140'),
    language: z.enum(LANGUAGES).default('ar'),
    stepTimeoutSeconds: z
      .strictObject({
        verification: z.number().int().min(1).max(3_600),
        other: z.number().int().min(1).max(259_200),
      })
      .default(DEFAULT_STEP_TIMEOUT_SECONDS),
    senderIds: z
      .array(
        z.strictObject({
          senderId: z.string().min(1).max(SENDER_ID_CHARACTERS_MAX),
          status: z.enum(SENDER_ID_STATUSES),
          pricePerSms: operatorPrices,
        }),
      )
      .default([]),
    whatsapp: z.strictObject({ businesses: z.array(business) }).default({ businesses: [] }),
    inboundWebhooks: z
      .array(
        z.strictObject({
          phoneNumberId: id24,
          url: z.url({ protocol: /^https$/ }),
          secret: z.string().regex(/^svc_live_sk[0-9a-f]{64}$/, 'must be svc_live_sk and 64 hex characters'),
        }),
      )
      .default([]),
  })
  .superRefine(({ environment, apiKeys }, context) => {
    for (const [index, key] of apiKeys.entries()) {
      if (API_KEY_PATTERN.test(key) && environmentOfKey(key) !== environment) {
        context.addIssue({
          code: 'custom',
          path: ['apiKeys', index],
          message: `must begin with sk_${environment}_`,
        });
      }
    }
  });

const seedFile = z.strictObject({
  projects: z.array(project),
  prices: z.strictObject({
    sms: operatorPrices,
    whatsapp: z.strictObject({ AUTHENTICATION: amount, UTILITY: amount, MARKETING: amount }),
    telegram: amount,
    international: z
      .array(
        z.strictObject({
          continent: text,
          countryIso: z.string().regex(/^[A-Z]{2}$/, 'must be two upper-case letters'),
          countryCode: z.string().regex(/^[0-9]{1,7}$/, 'must be 1 to 7 digits'),
          country: text,
          networkId: text,
          network: text,
          mccMnc: z.string().regex(/^[0-9]{0,7}$/, 'must be digits'),
          price: amount,
        }),
      )
      .default([]),
  }),
});

export type SeedFile = z.input<typeof seedFile>;

/** The seed does not fit its schema; the message names the path of every mistake. */
export class SeedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SeedError';
  }
}

/** Parses the text of a seed file. Throws `SeedError`. */
export function parseSeed(json: string): Seed {
  let document: unknown;
  try {
    document = JSON.parse(json);
  } catch (error) {
    throw new SeedError(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return readSeed(document);
}

/** Reads a seed that is already an object. Throws `SeedError`. */
export function readSeed(document: unknown): Seed {
  const result = seedFile.safeParse(document);
  if (!result.success) throw new SeedError(z.prettifyError(result.error));
  const { projects, prices } = result.data;
  refuseRepeated(projects);
  return {
    projects: projects.map(seedProject),
    prices: {
      sms: moneyOf(prices.sms),
      whatsapp: moneyOf(prices.whatsapp),
      telegram: iqd(prices.telegram),
      international: prices.international.map((row) => ({ ...row, price: iqd(row.price) })),
    },
  };
}

/** What the database would refuse with less to say. */
function refuseRepeated(projects: z.output<typeof seedFile>['projects']): void {
  const slug = repeated(projects.map((each) => each.slug));
  if (slug !== undefined) throw new SeedError(`two projects have the slug ${slug}`);
  const id = repeated(projects.flatMap((each) => each.id ?? []));
  if (id !== undefined) throw new SeedError(`two projects have the id ${id}`);
  if (repeated(projects.flatMap(({ apiKeys }) => apiKeys)) !== undefined) {
    throw new SeedError('an API key stands twice');
  }
  for (const { slug: name, senderIds } of projects) {
    const senderId = repeated(senderIds.map((sender) => sender.senderId));
    if (senderId !== undefined) throw new SeedError(`project ${name} has the sender ID ${senderId} twice`);
  }
}

function repeated(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) !== index);
}

function seedProject(seeded: z.output<typeof project>): SeedProject {
  const id = seeded.id ?? derivedId(`project ${seeded.slug}`);
  const { verification, other } = seeded.stepTimeoutSeconds;
  return {
    project: {
      id,
      name: seeded.name,
      slug: seeded.slug,
      environment: seeded.environment,
      settings: {
        rateLimit: seeded.rateLimit,
        allowedIps: seeded.allowedIps,
        ipRuleScope: seeded.ipRuleScope,
        settlement: seeded.settlement,
        billingUnits: seeded.billingUnits,
        language: seeded.language,
        stepTimeoutMs: { verification: verification * MS_PER_SECOND, other: other * MS_PER_SECOND },
      },
    },
    apiKeys: seeded.apiKeys,
    account: {
      paymentType: seeded.paymentType,
      spendingThreshold: seeded.spendingThreshold === null ? null : iqd(seeded.spendingThreshold),
      trialPhoneNumber: seeded.trial?.ownPhoneNumber ?? null,
    },
    credit: iqd(seeded.credit),
    senderIds: seeded.senderIds.map((sender) => ({
      id: derivedId(`sender ${seeded.slug} ${sender.senderId}`),
      projectId: id,
      senderId: sender.senderId,
      status: sender.status,
      pricePerSms: moneyOf(sender.pricePerSms),
    })),
    whatsappBusinesses: seeded.whatsapp.businesses,
    inboundWebhooks: seeded.inboundWebhooks,
  };
}

function moneyOf<Name extends string>(amounts: Record<Name, number>) {
  return Object.fromEntries(
    Object.entries<number>(amounts).map(([name, value]) => [name, iqd(value)]),
  ) as Record<Name, ReturnType<typeof iqd>>;
}

/** The same seed gives the same ids, so that tests and demos can name them. */
function derivedId(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 24);
}

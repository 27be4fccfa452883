import { createHash } from 'node:crypto';
import { millisecondsInSecond } from 'date-fns/constants';
import { z } from 'zod';
import type { Seed, SeedProject } from '../application/seed/apply-seed.ts';
import { SeedError } from '../application/seed/seed-error.ts';
import { API_KEY_PATTERN, environmentOfKey } from '../domain/access/api-key.ts';
import {
  ADDRESS_RATE_LIMIT_REQUESTS_MAX,
  DEFAULT_SETTINGS,
  ENVIRONMENTS,
  IP_RULE_SCOPES,
  OTHER_TIMEOUT_SECONDS_MAX,
  PROJECT_NAME_CHARACTERS_MAX,
  RATE_LIMIT_REQUESTS_MAX,
  RATE_LIMIT_WINDOW_MINUTES_MAX,
  SLUG_PATTERN,
  VERIFICATION_TIMEOUT_SECONDS_MAX,
} from '../domain/access/project.ts';
import { PAYMENT_TYPES } from '../domain/billing/account.ts';
import { BILLING_UNIT_RULES } from '../domain/billing/billing-units.ts';
import { SETTLEMENT_RULES } from '../domain/billing/settlement.ts';
import { SENDER_ID_CHARACTERS_MAX, WEBHOOK_URL_CHARACTERS_MAX } from '../domain/messages/send-request.ts';
import { SENDER_ID_STATUSES } from '../domain/senders/sender-id.ts';
import { LANGUAGES } from '../domain/shared/language.ts';
import { IQD_MAX, iqd, isIqdAmount } from '../domain/shared/money.ts';
import { canonicalPhoneNumber, isPhoneNumber, PHONE_NUMBER_PATTERN } from '../domain/shared/phone-number.ts';
import {
  INBOUND_SECRET_HEX_CHARACTERS,
  INBOUND_SECRET_PATTERN,
  INBOUND_SECRET_PREFIX,
} from '../domain/webhooks/inbound-event.ts';
import { findPhoneNumber } from '../domain/whatsapp/whatsapp-resources.ts';
import { textMistakes } from './seed-text.ts';
import { id24, text, whatsappTree } from './seed-whatsapp.ts';

/** The default settings as a seed file words them. */
export const DEFAULT_SEED_SETTINGS = {
  rateLimit: DEFAULT_SETTINGS.rateLimit,
  addressRateLimit: DEFAULT_SETTINGS.addressRateLimit,
  allowedIps: [...DEFAULT_SETTINGS.allowedIps],
  ipRuleScope: DEFAULT_SETTINGS.ipRuleScope,
  settlement: DEFAULT_SETTINGS.settlement,
  billingUnits: DEFAULT_SETTINGS.billingUnits,
  language: DEFAULT_SETTINGS.language,
  attemptTimeoutSeconds: {
    verification: DEFAULT_SETTINGS.attemptTimeoutMs.verification / millisecondsInSecond,
    other: DEFAULT_SETTINGS.attemptTimeoutMs.other / millisecondsInSecond,
  },
};

const SECRET_PROBLEM = `must be ${INBOUND_SECRET_PREFIX} and ${INBOUND_SECRET_HEX_CHARACTERS} hex characters`;

const amount = z.number().min(0).max(IQD_MAX).refine(isIqdAmount, 'has at most three decimals');
const phoneNumber = z.string().regex(PHONE_NUMBER_PATTERN, 'must be 10 to 15 digits').refine(isPhoneNumber);
const rateLimitOf = (maxRequests: number) =>
  z.strictObject({
    maxRequests: z.number().int().min(1).max(maxRequests),
    timeWindowMinutes: z.number().int().min(1).max(RATE_LIMIT_WINDOW_MINUTES_MAX),
  });
const rateLimit = rateLimitOf(RATE_LIMIT_REQUESTS_MAX);
const addressRateLimit = rateLimitOf(ADDRESS_RATE_LIMIT_REQUESTS_MAX);
const operatorPrices = z.strictObject({
  korekTelecom: amount,
  asiaCell: amount,
  zainIraq: amount,
  others: amount,
});

const project = z
  .strictObject({
    id: id24.optional(),
    name: z.string().min(1).max(PROJECT_NAME_CHARACTERS_MAX),
    slug: z.string().regex(SLUG_PATTERN, 'must be 1 to 60 of a-z, 0-9 and -'),
    environment: z.enum(ENVIRONMENTS),
    apiKeys: z.array(
      z.string().regex(API_KEY_PATTERN, 'must be sk_live_ or sk_dev_ and 40 lower-case hex characters'),
    ),
    paymentType: z.enum(PAYMENT_TYPES).default('prepaid'),
    credit: amount.default(0),
    spendingThreshold: amount.nullable().default(null),
    trial: z.strictObject({ ownPhoneNumber: phoneNumber }).nullable().default(null),
    rateLimit: rateLimit.nullable().default(DEFAULT_SEED_SETTINGS.rateLimit),
    addressRateLimit: addressRateLimit.nullable().default(DEFAULT_SEED_SETTINGS.addressRateLimit),
    allowedIps: z
      .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))
      .default(DEFAULT_SEED_SETTINGS.allowedIps),
    ipRuleScope: z.enum(IP_RULE_SCOPES).default(DEFAULT_SEED_SETTINGS.ipRuleScope),
    settlement: z.enum(SETTLEMENT_RULES).default(DEFAULT_SEED_SETTINGS.settlement),
    billingUnits: z.enum(BILLING_UNIT_RULES).default(DEFAULT_SEED_SETTINGS.billingUnits),
    language: z.enum(LANGUAGES).default(DEFAULT_SEED_SETTINGS.language),
    attemptTimeoutSeconds: z
      .strictObject({
        verification: z.number().int().min(1).max(VERIFICATION_TIMEOUT_SECONDS_MAX),
        other: z.number().int().min(1).max(OTHER_TIMEOUT_SECONDS_MAX),
      })
      .default(DEFAULT_SEED_SETTINGS.attemptTimeoutSeconds),
    senderIds: z
      .array(
        z.strictObject({
          senderId: z.string().min(1).max(SENDER_ID_CHARACTERS_MAX),
          status: z.enum(SENDER_ID_STATUSES),
          pricePerSms: operatorPrices,
        }),
      )
      .default([]),
    whatsapp: whatsappTree.default({ businesses: [] }),
    inboundWebhooks: z
      .array(
        z.strictObject({
          phoneNumberId: id24,
          url: z.string().max(WEBHOOK_URL_CHARACTERS_MAX),
          secret: z.string().regex(INBOUND_SECRET_PATTERN, SECRET_PROBLEM),
        }),
      )
      .default([]),
  })
  .superRefine(({ environment, apiKeys, whatsapp: { businesses }, inboundWebhooks }, context) => {
    for (const [index, key] of apiKeys.entries()) {
      if (API_KEY_PATTERN.test(key) && environmentOfKey(key) !== environment) {
        context.addIssue({
          code: 'custom',
          path: ['apiKeys', index],
          message: `must begin with sk_${environment}_`,
        });
      }
    }
    // Without a tree there is nothing to compare with: it may come later.
    if (businesses.length === 0) return;
    for (const [index, { phoneNumberId }] of inboundWebhooks.entries()) {
      if (findPhoneNumber(businesses, phoneNumberId) !== null) continue;
      context.addIssue({
        code: 'custom',
        path: ['inboundWebhooks', index, 'phoneNumberId'],
        message: "must be the id of one of the project's whatsapp numbers",
      });
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
  const issues = [...(result.error?.issues ?? []), ...textMistakes(document)];
  if (!result.success || issues.length > 0) throw new SeedError(z.prettifyError({ issues }));
  const { projects, prices } = result.data;
  rejectRepeated(projects);
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

/** Throws `SeedError` for values that must be unique; the database would reject them without naming them. */
function rejectRepeated(projects: z.output<typeof seedFile>['projects']): void {
  const slug = repeated(projects.map((each) => each.slug));
  if (slug !== undefined) throw new SeedError(`two projects have the slug ${slug}`);
  const id = repeated(projects.flatMap((each) => each.id ?? []));
  if (id !== undefined) throw new SeedError(`two projects have the id ${id}`);
  if (repeated(projects.flatMap(({ apiKeys }) => apiKeys)) !== undefined) {
    throw new SeedError('an API key stands twice');
  }
  const number = repeated(
    projects.flatMap(({ inboundWebhooks }) => inboundWebhooks.map(({ phoneNumberId }) => phoneNumberId)),
  );
  if (number !== undefined) throw new SeedError(`the number ${number} has two inbound webhooks`);
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
  const { verification, other } = seeded.attemptTimeoutSeconds;
  return {
    project: {
      id,
      name: seeded.name,
      slug: seeded.slug,
      environment: seeded.environment,
      settings: {
        rateLimit: seeded.rateLimit,
        addressRateLimit: seeded.addressRateLimit,
        allowedIps: seeded.allowedIps,
        ipRuleScope: seeded.ipRuleScope,
        settlement: seeded.settlement,
        billingUnits: seeded.billingUnits,
        language: seeded.language,
        attemptTimeoutMs: {
          verification: verification * millisecondsInSecond,
          other: other * millisecondsInSecond,
        },
      },
    },
    apiKeys: seeded.apiKeys,
    account: {
      paymentType: seeded.paymentType,
      spendingThreshold: seeded.spendingThreshold === null ? null : iqd(seeded.spendingThreshold),
      trialPhoneNumber: seeded.trial === null ? null : canonicalPhoneNumber(seeded.trial.ownPhoneNumber),
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

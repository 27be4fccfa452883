import { createHash } from 'node:crypto';
import { millisecondsInSecond } from 'date-fns/constants';
import { z } from 'zod';
import { textMistakes } from '../../adapters/http/input/text-mistakes.ts';
import { isNetwork } from '../../adapters/http/routing/ip-allow-list.ts';
import type { Seed, SeedProject } from '../../application/seed/apply-seed.ts';
import { SeedError } from '../../application/seed/seed-error.ts';
import { API_KEY_PATTERN, environmentOfKey } from '../../domain/access/api-key.ts';
import {
  ADDRESS_RATE_LIMIT_REQUESTS_MAX,
  ALLOWED_IPS_MAX,
  DEFAULT_SETTINGS,
  ENVIRONMENTS,
  IP_RULE_SCOPES,
  isSlug,
  OTHER_TIMEOUT_SECONDS_MAX,
  PROJECT_NAME_CHARACTERS_MAX,
  RATE_LIMIT_REQUESTS_MAX,
  RATE_LIMIT_WINDOW_MINUTES_MAX,
  SLUG_RULE,
  VERIFICATION_TIMEOUT_SECONDS_MAX,
  WEIGHT_MAX,
  WEIGHT_MIN,
} from '../../domain/access/project.ts';
import { RETENTION_ACTIONS, RETENTION_DAYS_MAX, RETENTION_DAYS_MIN } from '../../domain/access/retention.ts';
import { PAYMENT_TYPES } from '../../domain/billing/account.ts';
import { BILLING_UNIT_RULES } from '../../domain/billing/billing-units.ts';
import type { LowCredit } from '../../domain/billing/low-credit.ts';
import { readPriceRow } from '../../domain/billing/price-row.ts';
import { fromIqd, type InternationalPrice } from '../../domain/billing/pricing.ts';
import { SETTLEMENT_RULES } from '../../domain/billing/settlement.ts';
import { mapSystemPrices, TEMPLATE_CATEGORIES } from '../../domain/billing/system-prices.ts';
import { SENDER_ID_CHARACTERS_MAX } from '../../domain/messages/send-request.ts';
import { SENDER_ID_STATUSES } from '../../domain/senders/sender-id.ts';
import { byName } from '../../domain/shared/by-name.ts';
import { HEX_ID_CHARACTERS } from '../../domain/shared/hex-id.ts';
import { JSON_DEPTH_MAX, jsonExcess } from '../../domain/shared/json-text.ts';
import { LANGUAGES } from '../../domain/shared/language.ts';
import { IQD_MAX, iqd, isIqdAmount } from '../../domain/shared/money.ts';
import {
  canonicalPhoneNumber,
  isPhoneNumber,
  MOBILE_OPERATORS,
  PHONE_NUMBER_PATTERN,
} from '../../domain/shared/phone-number.ts';
import type { PlainSecret } from '../../domain/shared/sealed-secret.ts';
import { isStorableLine } from '../../domain/shared/storable-text.ts';
import {
  INBOUND_SECRET_HEX_CHARACTERS,
  INBOUND_SECRET_PATTERN,
  INBOUND_SECRET_PREFIX,
} from '../../domain/webhooks/inbound-secrets.ts';
import { hasStandardKey, STANDARD_SECRET_PREFIX } from '../../domain/webhooks/signer.ts';
import {
  WEBHOOK_SECRET_CHARACTERS_MAX,
  WEBHOOK_SECRET_PATTERN,
  WEBHOOK_URL_CHARACTERS_MAX,
} from '../../domain/webhooks/webhook-limits.ts';
import { findPhoneNumber } from '../../domain/whatsapp/whatsapp-resources.ts';
import { jsonMistake } from './json-mistake.ts';
import { id24, whatsappTree } from './seed-whatsapp.ts';

const { attemptTimeoutMs, ...defaultSettings } = DEFAULT_SETTINGS;

/** The default settings as a seed file words them. */
export const DEFAULT_SEED_SETTINGS = {
  ...defaultSettings,
  allowedIps: [...defaultSettings.allowedIps],
  attemptTimeoutSeconds: {
    verification: attemptTimeoutMs.verification / millisecondsInSecond,
    other: attemptTimeoutMs.other / millisecondsInSecond,
  },
  lowCredit: null,
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
const mobileOperatorPrices = z.strictObject(byName(MOBILE_OPERATORS, () => amount));

const project = z
  .strictObject({
    id: id24.optional(),
    name: z.string().min(1).max(PROJECT_NAME_CHARACTERS_MAX),
    slug: z.string().refine(isSlug, SLUG_RULE),
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
      .array(z.string().refine(isNetwork, 'must be an address or a CIDR range'))
      .max(ALLOWED_IPS_MAX)
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
    retention: z
      .strictObject({
        days: z.number().int().min(RETENTION_DAYS_MIN).max(RETENTION_DAYS_MAX),
        action: z.enum(RETENTION_ACTIONS),
      })
      .nullable()
      .default(DEFAULT_SEED_SETTINGS.retention),
    lowCredit: z
      .strictObject({
        amount: amount.positive(),
        webhookUrl: z.string().max(WEBHOOK_URL_CHARACTERS_MAX),
        webhookSecret: z
          .string()
          .min(1)
          .max(WEBHOOK_SECRET_CHARACTERS_MAX)
          .regex(WEBHOOK_SECRET_PATTERN, 'must be letters, digits or signs of a header token')
          .refine(hasStandardKey, `must have a key in base64 behind ${STANDARD_SECRET_PREFIX}`)
          .optional(),
      })
      .nullable()
      .default(DEFAULT_SEED_SETTINGS.lowCredit),
    weight: z.number().int().min(WEIGHT_MIN).max(WEIGHT_MAX).default(DEFAULT_SEED_SETTINGS.weight),
    senderIds: z
      .array(
        z.strictObject({
          senderId: z
            .string()
            .min(1)
            .max(SENDER_ID_CHARACTERS_MAX)
            .refine(isStorableLine, 'must not contain control characters'),
          status: z.enum(SENDER_ID_STATUSES),
          pricePerSms: mobileOperatorPrices,
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

/** Read by the rules of an import. */
const priceRow = z
  .custom<Omit<InternationalPrice, 'price'> & { readonly price: number }>()
  .transform((given, context): InternationalPrice => {
    const read = readPriceRow(given);
    if (read.kind === 'row') return read.row;
    for (const { field, problem } of read.mistakes) {
      context.addIssue({ code: 'custom', path: field === null ? [] : [field], message: problem });
    }
    return z.NEVER;
  });

const seedFile = z.strictObject({
  projects: z.array(project),
  prices: z.strictObject({
    sms: mobileOperatorPrices,
    whatsapp: z.strictObject(byName(TEMPLATE_CATEGORIES, () => amount)),
    telegram: amount,
    international: z.array(priceRow).default([]),
  }),
});

export type SeedFile = z.input<typeof seedFile>;

/** Parses the text of a seed file. Throws `SeedError`. */
export function parseSeed(json: string): Seed {
  const limits = { depth: JSON_DEPTH_MAX, objectMembers: Infinity, listItems: Infinity, members: Infinity };
  if (jsonExcess(json, limits) !== null) throw new SeedError(`nested deeper than ${JSON_DEPTH_MAX} levels`);
  let document: unknown;
  try {
    document = JSON.parse(json);
  } catch {
    throw new SeedError(`not JSON: ${jsonMistake(json)}`);
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
    prices: { ...mapSystemPrices(prices, iqd), international: prices.international },
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
        retention: seeded.retention,
        lowCredit: null,
        weight: seeded.weight,
      },
    },
    lowCredit: lowCreditOf(seeded.lowCredit),
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
      pricePerSms: fromIqd(sender.pricePerSms),
    })),
    whatsappBusinesses: seeded.whatsapp.businesses,
    inboundWebhooks: seeded.inboundWebhooks.map(({ phoneNumberId: whatsappPhoneId, url, secret }) => ({
      whatsappPhoneId,
      url,
      secret,
    })),
  };
}

function lowCreditOf(seeded: z.output<typeof project>['lowCredit']): LowCredit<PlainSecret> | null {
  if (seeded === null) return null;
  const { amount: below, webhookUrl, webhookSecret = null } = seeded;
  return { amount: iqd(below), webhookUrl, webhookSecret };
}

/** The same seed gives the same ids, so that tests and demos can name them. */
function derivedId(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, HEX_ID_CHARACTERS);
}

import { z } from 'zod';
import {
  ADDRESS_RATE_LIMIT_REQUESTS_MAX,
  ALLOWED_IPS_MAX,
  ENVIRONMENTS,
  IP_RULE_SCOPES,
  isSlug,
  OTHER_TIMEOUT_SECONDS_MAX,
  PROJECT_NAME_CHARACTERS_MAX,
  type ProjectSettings,
  RATE_LIMIT_REQUESTS_MAX,
  RATE_LIMIT_WINDOW_MINUTES_MAX,
  SLUG_PATTERN,
  SLUG_RULE,
  VERIFICATION_TIMEOUT_SECONDS_MAX,
  WEIGHT_MAX,
  WEIGHT_MIN,
} from '../../../../../domain/access/project.ts';
import { BALANCE_IQD_MAX, PAYMENT_TYPES } from '../../../../../domain/billing/account.ts';
import { BILLING_UNIT_RULES } from '../../../../../domain/billing/billing-units.ts';
import { SETTLEMENT_RULES } from '../../../../../domain/billing/settlement.ts';
import { LANGUAGES } from '../../../../../domain/shared/language.ts';
import { IQD_MAX } from '../../../../../domain/shared/money.ts';
import { BODY_ERROR } from '../../../input/body-error.ts';
import { phoneNumberField } from '../../../input/phone-number-field.ts';
import { nameField } from '../../../input/text-fields.ts';
import { messageOfField } from '../../../input/union-error.ts';
import { ALLOWED_IP_CHARACTERS_MAX } from '../../../limits.ts';
import { isNetwork } from '../../../routing/ip-allow-list.ts';
import { lowCreditField, shownLowCredit } from '../money/low-credit-schemas.ts';
import { amountField, id, instant, iqdAmount, next, OFF, oneOf, whole } from '../shared-schemas.ts';
import { retentionField } from './retention-schemas.ts';

const SLUG_ERROR = `slug ${SLUG_RULE}`;

function rateLimitField(name: string, maxRequestsMax: number) {
  const limit = z.object(
    {
      maxRequests: whole(`${name}.maxRequests`, 1, maxRequestsMax).meta({
        description: 'Accepted sends in the window',
        examples: [5],
      }),
      timeWindowMinutes: whole(`${name}.timeWindowMinutes`, 1, RATE_LIMIT_WINDOW_MINUTES_MAX).meta({
        description: 'The window',
        examples: [10],
      }),
    },
    { error: `${name} must be "${OFF}" or an object with maxRequests and timeWindowMinutes` },
  );
  return z.union([z.literal(OFF), limit], {
    error: (issue) =>
      messageOfField(issue) ?? `${name} must be "${OFF}", or maxRequests and timeWindowMinutes`,
  });
}

const thresholdField = z
  .union([z.literal(OFF), amountField('spendingThreshold', 0)], {
    error: `spendingThreshold must be "${OFF}" or an IQD amount from 0 to ${IQD_MAX} with at most three decimals`,
  })
  .meta({
    description: 'The most that may be held and captured together, in IQD; `off` takes it away',
    examples: [100_000],
  });

const IPS_ERROR = `allowedIps must be a list of at most ${ALLOWED_IPS_MAX} addresses or CIDR ranges`;

/** The settings as bodies name them: an interval has its unit in its name. */
type SettingField = Exclude<keyof ProjectSettings, 'attemptTimeoutMs'> | 'attemptTimeoutSeconds';

const settings = {
  rateLimit: rateLimitField('rateLimit', RATE_LIMIT_REQUESTS_MAX).meta({
    description: 'For the sends to one phone number; `off` switches it off',
    examples: [{ maxRequests: 5, timeWindowMinutes: 10 }],
  }),
  addressRateLimit: rateLimitField('addressRateLimit', ADDRESS_RATE_LIMIT_REQUESTS_MAX).meta({
    description: 'For the sends from one client address; `off` switches it off',
    examples: [OFF],
  }),
  allowedIps: z
    .array(
      z
        .string({ error: IPS_ERROR })
        .max(ALLOWED_IP_CHARACTERS_MAX, { error: IPS_ERROR })
        .refine(isNetwork, { error: IPS_ERROR }),
      { error: IPS_ERROR },
    )
    .max(ALLOWED_IPS_MAX, { error: IPS_ERROR })
    .meta({
      description: 'Addresses or CIDR ranges; empty allows every address',
      examples: [['203.0.113.0/24']],
    }),
  ipRuleScope: oneOf('ipRuleScope', IP_RULE_SCOPES).meta({
    description: 'What `allowedIps` guards: GET /whatsapp/resources, or every endpoint',
    examples: ['resources'],
  }),
  settlement: oneOf('settlement', SETTLEMENT_RULES).meta({
    description: 'What a delivered message is charged',
    examples: ['quoted'],
  }),
  billingUnits: oneOf('billingUnits', BILLING_UNIT_RULES).meta({
    description: 'How many sms a text is charged as',
    examples: ['flat140'],
  }),
  language: oneOf('language', LANGUAGES).meta({
    description: 'The language of verification texts',
    examples: ['ar'],
  }),
  attemptTimeoutSeconds: z
    .object(
      {
        verification: whole('attemptTimeoutSeconds.verification', 1, VERIFICATION_TIMEOUT_SECONDS_MAX).meta({
          description: 'Of codes, in seconds',
          examples: [30],
        }),
        other: whole('attemptTimeoutSeconds.other', 1, OTHER_TIMEOUT_SECONDS_MAX).meta({
          description: 'Of other messages, in seconds',
          examples: [300],
        }),
      },
      { error: 'attemptTimeoutSeconds must be an object with verification and other' },
    )
    .meta({ description: 'How long an attempt may stay without a delivery receipt' }),
  retention: retentionField,
  lowCredit: lowCreditField,
  weight: whole('weight', WEIGHT_MIN, WEIGHT_MAX).meta({
    description: 'While several projects have work, its share is so many times that of a project of weight 1',
    examples: [1],
  }),
} satisfies Record<SettingField, z.ZodType>;

const name = nameField('name', 1, PROJECT_NAME_CHARACTERS_MAX).meta({
  description: 'For people',
  examples: ['Souq'],
});
const environment = oneOf('environment', ENVIRONMENTS).meta({
  description: 'A `dev` project sends nothing: it always uses the simulator',
  examples: ['dev'],
});
const paymentType = oneOf('paymentType', PAYMENT_TYPES).meta({
  description: `A postpaid project needs no credit: it may owe ${BALANCE_IQD_MAX.toLocaleString('en')} IQD`,
  examples: ['prepaid'],
});

const optionalSettings = Object.fromEntries(
  Object.entries(settings).map(([field, schema]) => [field, schema.optional()]),
) as { [Name in keyof typeof settings]: z.ZodOptional<(typeof settings)[Name]> };

/** POST /admin/projects. */
export const createProjectBody = z
  .object(
    {
      name,
      slug: z
        .string({ error: SLUG_ERROR })
        .regex(SLUG_PATTERN, { error: SLUG_ERROR })
        .refine(isSlug, { error: SLUG_ERROR })
        .meta({ description: 'A name for paths and file names; it never changes', examples: ['souq'] }),
      environment,
      paymentType: paymentType.optional(),
      spendingThreshold: thresholdField.optional(),
      trial: z
        .object(
          { ownPhoneNumber: phoneNumberField },
          { error: 'trial must be an object with ownPhoneNumber' },
        )
        .meta({ description: 'Until the first top-up it sends to this number only' })
        .optional(),
      ...optionalSettings,
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'CreateProject', description: 'A new project; a setting that is left out has its default' });

/** PATCH /admin/projects/{project}. */
export const changeProjectBody = z
  .object(
    { name: name.optional(), spendingThreshold: thresholdField.optional(), ...optionalSettings },
    { error: BODY_ERROR },
  )
  .meta({ id: 'ChangeProject', description: 'What changes; what is left out stays' });

/** A project. */
export const projectSchema = z
  .object({
    id,
    name: z.string().meta({ description: 'For people', examples: ['Souq'] }),
    slug: z.string().meta({ description: 'For paths and file names', examples: ['souq'] }),
    environment: z.enum(ENVIRONMENTS).meta({ description: '`dev` or `live`', examples: ['dev'] }),
    archivedAt: instant
      .nullable()
      .meta({ description: 'Since when its keys are rejected; null while it is in use', examples: [null] }),
    paymentType: z
      .enum(PAYMENT_TYPES)
      .meta({ description: '`prepaid` or `postpaid`', examples: ['prepaid'] }),
    credit: iqdAmount.meta({ description: 'The balance less open holds, never below 0', examples: [15_000] }),
    balance: iqdAmount.meta({ description: 'Deposits and corrections less captures', examples: [15_000] }),
    held: iqdAmount.meta({ description: 'Open holds', examples: [0] }),
    spent: iqdAmount.meta({ description: 'Captures since the last threshold reset', examples: [0] }),
    spendingThreshold: z
      .union([z.literal(OFF), iqdAmount])
      .meta({ description: 'The most that may be held and captured together', examples: [OFF] }),
    isTrial: z.boolean().meta({ description: 'Whether it sends to its own number only', examples: [false] }),
    ...settings,
    lowCredit: shownLowCredit,
  })
  .meta({ id: 'AdminProject', description: 'A project with its money and settings' });

/** GET /admin/projects. */
export const projectPage = z
  .object({
    projects: z.array(projectSchema).meta({ description: 'In the order of their ids' }),
    next,
  })
  .meta({ id: 'AdminProjectPage', description: 'One page of projects' });

import { z } from 'zod';
import {
  ADDRESS_RATE_LIMIT_REQUESTS_MAX,
  ENVIRONMENTS,
  IP_RULE_SCOPES,
  OTHER_TIMEOUT_SECONDS_MAX,
  PROJECT_NAME_CHARACTERS_MAX,
  RATE_LIMIT_REQUESTS_MAX,
  RATE_LIMIT_WINDOW_MINUTES_MAX,
  SLUG_PATTERN,
  VERIFICATION_TIMEOUT_SECONDS_MAX,
} from '../../../domain/access/project.ts';
import { KEY_STATUSES } from '../../../domain/access/project-key.ts';
import { PAYMENT_TYPES } from '../../../domain/billing/account.ts';
import { BILLING_UNIT_RULES } from '../../../domain/billing/billing-units.ts';
import { STATEMENT_KINDS } from '../../../domain/billing/ledger.ts';
import { SETTLEMENT_RULES } from '../../../domain/billing/settlement.ts';
import { ACTORS, AUDIT_ACTIONS } from '../../../domain/operators/audit-record.ts';
import { LANGUAGES } from '../../../domain/shared/language.ts';
import { IQD_MAX, isIqdAmount } from '../../../domain/shared/money.ts';
import {
  ADMIN_CURSOR_CHARACTERS_MAX,
  ADMIN_LIMIT_DEFAULT,
  ADMIN_LIMIT_MAX,
  ALLOWED_IP_CHARACTERS_MAX,
  ALLOWED_IPS_MAX,
  KEY_OVERLAP_MINUTES_DEFAULT,
  KEY_OVERLAP_MINUTES_MAX,
  REASON_CHARACTERS_MAX,
} from '../limits.ts';
import { isNetwork } from '../routing/ip-allow-list.ts';
import { wholeNumber } from '../routing/query-fields.ts';
import { nameField } from '../routing/text-fields.ts';
import { BODY_ERROR, phoneNumberField } from './send-body.ts';

/** Switches a limit off; null would be the same as absent. */
export const OFF = 'off';

const ID_EXAMPLE = '01b8dac69e60278320fd635c';
const KEY_ID_EXAMPLE = '5f1d7a9f4f8b3c2e6a0d9b7c';
const KEY_EXAMPLE = 'sk_dev_0123456789abcdef0123456789abcdef01234567';
const INSTANT_EXAMPLE = '2030-01-01T00:00:00.000Z';
const SLUG_ERROR = 'slug must be 1 to 60 of a-z, 0-9 and -, and not 24 hex characters';
/** It would be taken for the id of a project. */
const ID_FORM = /^[0-9a-f]{24}$/;

const oneOf = <const Values extends readonly [string, ...string[]]>(name: string, values: Values) =>
  z.enum(values, { error: `${name} must be one of ${values.join(', ')}` });

function whole(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

function amountField(name: string, min: number) {
  const error = `${name} must be an IQD amount from ${min} to ${IQD_MAX} with at most three decimals`;
  return z.number({ error }).min(min, { error }).max(IQD_MAX, { error }).refine(isIqdAmount, { error });
}

/** The smallest amount that there is, in IQD. */
const SMALLEST_IQD = 0.001;

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
    error: (issue) => messageOf(issue) ?? `${name} must be "${OFF}", or maxRequests and timeWindowMinutes`,
  });
}

/** What the object of a union says is wrong with one of its fields. */
function messageOf(issue: { readonly code?: string | undefined }): string | undefined {
  const { errors = [] } = issue as {
    readonly errors?: readonly (readonly { message?: string; path?: readonly unknown[] }[])[];
  };
  return errors.flat().find(({ path = [] }) => path.length > 0)?.message;
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
};

const name = nameField('name', 1, PROJECT_NAME_CHARACTERS_MAX).meta({
  description: 'For people',
  examples: ['Souq'],
});
const environment = oneOf('environment', ENVIRONMENTS).meta({
  description: 'A `dev` project sends nothing: it always uses the simulator',
  examples: ['dev'],
});
const paymentType = oneOf('paymentType', PAYMENT_TYPES).meta({
  description: 'A postpaid project needs no credit',
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
        .refine((slug) => !ID_FORM.test(slug), { error: SLUG_ERROR })
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

const instant = z.iso.datetime();
const iqdAmount = z.number();

/** A project. */
export const projectSchema = z
  .object({
    id: z.string().meta({ description: '24 hex characters', examples: [ID_EXAMPLE] }),
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
  })
  .meta({ id: 'AdminProject', description: 'A project with its money and settings' });

const next = z
  .string()
  .nullable()
  .meta({ description: '`cursor` of the next page; null on the last one', examples: [null] });

/** GET /admin/projects. */
export const projectPage = z
  .object({
    projects: z.array(projectSchema).meta({ description: 'In the order of their ids' }),
    next,
  })
  .meta({ id: 'AdminProjectPage', description: 'One page of projects' });

const keyFields = {
  id: z
    .string()
    .meta({ description: 'Names the key; nothing can be learned from it', examples: [KEY_ID_EXAMPLE] }),
  prefix: z.string().meta({ description: 'What the key begins with', examples: ['sk_dev_'] }),
  lastFour: z
    .string()
    .nullable()
    .meta({ description: 'What the key ends with; null for a key of an older version', examples: ['4567'] }),
  status: z.enum(KEY_STATUSES).meta({ description: '`active` and `ending` keys work', examples: ['active'] }),
  createdAt: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
  endsAt: instant
    .nullable()
    .meta({ description: 'From when on the key is rejected; null without an end', examples: [null] }),
  revokedAt: instant.nullable().meta({ description: 'When it was revoked', examples: [null] }),
};

/** A key in a list. */
export const keySchema = z
  .object(keyFields)
  .meta({ id: 'AdminKey', description: 'An API key, which is stored as a digest only' });

/** A key that was just made. */
export const newKeySchema = z
  .object({
    ...keyFields,
    apiKey: z.string().meta({ description: 'The key. It is shown once', examples: [KEY_EXAMPLE] }),
  })
  .meta({ id: 'AdminNewKey', description: 'A new API key with its text' });

/** GET …/keys. */
export const keyPage = z
  .object({ keys: z.array(keySchema).meta({ description: 'The newest first' }), next })
  .meta({ id: 'AdminKeyPage', description: 'One page of the keys of a project' });

/** POST …/rotate. */
export const rotateBody = z
  .object(
    {
      overlapMinutes: whole('overlapMinutes', 0, KEY_OVERLAP_MINUTES_MAX)
        .meta({
          description: `How long the old key works on; ${KEY_OVERLAP_MINUTES_DEFAULT} when it is left out`,
          examples: [60],
        })
        .optional(),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'RotateKey', description: 'When the old key ends' });

/** The reply of POST …/rotate. */
export const rotatedSchema = z
  .object({ key: newKeySchema, replaced: keySchema })
  .meta({ id: 'AdminRotatedKey', description: 'The new key, and the one that it replaces' });

const reason = nameField('reason', 1, REASON_CHARACTERS_MAX);

/** POST …/top-ups. */
export const topUpBody = z
  .object(
    {
      amount: amountField('amount', SMALLEST_IQD).meta({
        description: 'What is added, in IQD',
        examples: [15_000],
      }),
      reason: reason.meta({ description: 'For the audit log', examples: ['Invoice 4711'] }).optional(),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'TopUp', description: 'Credit to add' });

/** POST …/corrections. */
export const correctionBody = z
  .object(
    {
      amount: amountField('amount', -IQD_MAX)
        .refine((amount) => amount !== 0, { error: 'amount must not be 0' })
        .meta({ description: 'What is added, or taken when it is below 0, in IQD', examples: [-250.5] }),
      reason: reason.meta({ description: 'For the audit log', examples: ['Invoice 4711 was counted twice'] }),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'Correction', description: 'A change of the balance' });

/** The money of a project after a change. */
export const creditSchema = z
  .object({
    id: z.string().meta({
      description: 'The audit record, and the reference of the ledger entry',
      examples: [ID_EXAMPLE],
    }),
    credit: iqdAmount.meta({ description: 'The balance less open holds, never below 0', examples: [15_000] }),
    balance: iqdAmount.meta({ description: 'Deposits and corrections less captures', examples: [15_000] }),
    held: iqdAmount.meta({ description: 'Open holds', examples: [0] }),
    spent: iqdAmount.meta({ description: 'Captures since the last threshold reset', examples: [0] }),
    isTrial: z.boolean().meta({ description: 'Whether it sends to its own number only', examples: [false] }),
  })
  .meta({ id: 'AdminCredit', description: 'The money of a project after a change' });

/** GET …/statement. */
export const statementPage = z
  .object({
    lines: z
      .array(
        z
          .object({
            id: z.string().meta({
              description: 'The ledger entry',
              examples: [`${ID_EXAMPLE}/deposit`],
            }),
            at: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
            kind: z.enum(STATEMENT_KINDS).meta({
              description: '`settlement` is what a message was charged; holds are not in a statement',
              examples: ['deposit'],
            }),
            reference: z.string().meta({
              description: 'The `smsId` of a message, or the id of an audit record',
              examples: [ID_EXAMPLE],
            }),
            amount: iqdAmount.meta({ description: 'The change of the balance, in IQD', examples: [15_000] }),
            balance: iqdAmount.meta({
              description: 'The balance after the entry, in IQD',
              examples: [15_000],
            }),
          })
          .meta({ id: 'StatementLine', description: 'A ledger entry' }),
      )
      .meta({ description: 'The newest first' }),
    next,
  })
  .meta({ id: 'Statement', description: 'One page of the statement of a project' });

const audited = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({ description: 'The fields that changed; null when there was nothing', examples: [{ balance: 0 }] });

/** GET /admin/audit. */
export const auditPage = z
  .object({
    records: z
      .array(
        z
          .object({
            id: z.string().meta({ description: '24 hex characters', examples: [ID_EXAMPLE] }),
            at: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
            actor: z.enum(ACTORS).meta({
              description: '`cli` for the command line, `operator` for other holders of the token',
              examples: ['cli'],
            }),
            action: z.enum(AUDIT_ACTIONS).meta({ description: 'What was done', examples: ['credit-added'] }),
            project: z
              .string()
              .nullable()
              .meta({ description: 'The id of the project', examples: [ID_EXAMPLE] }),
            before: audited,
            after: audited,
          })
          .meta({ id: 'AuditRecord', description: 'One change' }),
      )
      .meta({ description: 'The newest first' }),
    next,
  })
  .meta({ id: 'AuditPage', description: 'One page of the audit log' });

const limit = wholeNumber('limit', 1, ADMIN_LIMIT_MAX)
  .default(ADMIN_LIMIT_DEFAULT)
  .meta({ description: 'Entries of a page', examples: [ADMIN_LIMIT_DEFAULT] });
const cursor = z
  .string()
  .max(ADMIN_CURSOR_CHARACTERS_MAX, { error: 'cursor is not one of a page' })
  .meta({ description: '`next` of the page before', examples: ['WyIwMWI4ZGFjNjllNjAyNzgzMjBmZDYzNWMiXQ'] });

/** The query of every list. */
export const pageQuery = z.object({ limit, cursor: cursor.optional() });

/** GET /admin/audit. */
export const auditQuery = z.object({
  limit,
  cursor: cursor.optional(),
  project: z
    .string()
    .meta({ description: 'Only changes of this project: an id or a slug', examples: ['souq'] })
    .optional(),
});

const project = z.string().meta({ description: 'The id or the slug of a project', examples: ['souq'] });
export const projectParams = z.object({ project });
export const keyParams = z.object({
  project,
  key: z.string().meta({ description: 'The `id` of a key', examples: [KEY_ID_EXAMPLE] }),
});

import { millisecondsInMinute, millisecondsInSecond } from 'date-fns/constants';
import type { BillingUnitRule } from '../billing/billing-units.ts';
import type { LowCredit } from '../billing/low-credit.ts';
import type { SettlementRule } from '../billing/settlement.ts';
import { DEFAULT_RATE_LIMIT, type RateLimit } from '../rate-limiting/rate-limiter.ts';
import { HEX_ID_PATTERN } from '../shared/hex-id.ts';
import type { Language } from '../shared/language.ts';
import type { SealedSecret } from '../shared/sealed-secret.ts';
import type { Retention } from './retention.ts';

export const ENVIRONMENTS = ['live', 'dev'] as const;
/** A dev project always uses the simulator, whatever is configured. The prefix of an API key names its environment. */
export type Environment = (typeof ENVIRONMENTS)[number];

export const IP_RULE_SCOPES = ['resources', 'all'] as const;

/** What an operator can set per project. */
export interface ProjectSettings<Secret = SealedSecret> {
  /** For the sends to one phone number. */
  readonly rateLimit: RateLimit | null;
  /** For the sends from one client address. */
  readonly addressRateLimit: RateLimit | null;
  /** Addresses or CIDR ranges; empty allows every address. */
  readonly allowedIps: readonly string[];
  /** Whether the allow list guards the resources endpoint (specification 5.4) or every endpoint. */
  readonly ipRuleScope: (typeof IP_RULE_SCOPES)[number];
  readonly settlement: SettlementRule;
  readonly billingUnits: BillingUnitRule;
  readonly language: Language;
  /** How long a channel may stay without a delivered receipt before the next channel is tried. */
  readonly attemptTimeoutMs: { readonly verification: number; readonly other: number };
  /** Null keeps messages for ever. */
  readonly retention: Retention | null;
  /** Null tells nobody of low credit. */
  readonly lowCredit: LowCredit<Secret> | null;
  /** How many times as many jobs of a lease it gets as a project of weight 1. */
  readonly weight: number;
}

/** What a project has until an operator sets something else. */
export const DEFAULT_SETTINGS: ProjectSettings<never> = {
  rateLimit: DEFAULT_RATE_LIMIT,
  addressRateLimit: null,
  allowedIps: [],
  ipRuleScope: 'resources',
  settlement: 'quoted',
  billingUnits: 'flat140',
  language: 'ar',
  // A code is useless a minute later; other messages can wait for a slow mobile operator.
  attemptTimeoutMs: { verification: 30 * millisecondsInSecond, other: 5 * millisecondsInMinute },
  retention: null,
  lowCredit: null,
  weight: 1,
};

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly environment: Environment;
  readonly settings: ProjectSettings;
}

/** Whether a project can be named so. What has the form of an id would be taken for one. */
export function isSlug(text: string): boolean {
  return SLUG_PATTERN.test(text) && !HEX_ID_PATTERN.test(text);
}

/** The bounds of what an operator can set. */
export const PROJECT_NAME_CHARACTERS_MAX = 200;
export const SLUG_PATTERN = /^[a-z0-9-]{1,60}$/;
export const SLUG_RULE = 'must be 1 to 60 of a-z, 0-9 and -, and not 24 hex characters';
export const RATE_LIMIT_REQUESTS_MAX = 10_000;
/** Each send counts the earlier ones of its address. */
export const ADDRESS_RATE_LIMIT_REQUESTS_MAX = 1_000;
export const RATE_LIMIT_WINDOW_MINUTES_MAX = 10_080;
export const ALLOWED_IPS_MAX = 1_000;
export const VERIFICATION_TIMEOUT_SECONDS_MAX = 3_600;
export const OTHER_TIMEOUT_SECONDS_MAX = 259_200;
export const WEIGHT_MIN = 1;
export const WEIGHT_MAX = 100;

import type { Project, ProjectSettings } from '../access/project.ts';
import { keyIdOf, type ProjectKey } from '../access/project-key.ts';
import type { Account } from '../billing/account.ts';
import type { RateLimit } from '../rate-limiting/rate-limiter.ts';
import { type Money, toIqd } from '../shared/money.ts';
import type { AuditedFields } from './audit-record.ts';

/*
 * What the audit log has of each thing: an allow-list. A field that is not named here is not in the log. Amounts are in IQD,
 * instants in ISO 8601.
 */

/** A project and the terms of its account. Of the number of a trial it is known only whether there is one. */
export function auditedProject(
  { name, slug, environment, settings }: Project,
  { paymentType, spendingThreshold, trialPhoneNumber }: Account,
): AuditedFields {
  return {
    name,
    slug,
    environment,
    paymentType,
    spendingThreshold: amountOrOff(spendingThreshold),
    isTrial: trialPhoneNumber !== null,
    ...auditedSettings(settings),
  };
}

/** A key, by its public id. */
export function auditedKey({ digest, endsAt, revokedAt }: ProjectKey): AuditedFields {
  return { keyId: keyIdOf(digest), endsAt: instantOrNull(endsAt), revokedAt: instantOrNull(revokedAt) };
}

/** The amounts of an account. */
export function auditedAccount({ balance, held, spent, trialPhoneNumber }: Account): AuditedFields {
  return {
    balance: toIqd(balance),
    held: toIqd(held),
    spent: toIqd(spent),
    isTrial: trialPhoneNumber !== null,
  };
}

function auditedSettings(settings: ProjectSettings): AuditedFields {
  const { rateLimit, addressRateLimit, allowedIps, ipRuleScope, settlement, billingUnits, language } =
    settings;
  const { verification, other } = settings.attemptTimeoutMs;
  return {
    rateLimit: limitOrOff(rateLimit),
    addressRateLimit: limitOrOff(addressRateLimit),
    allowedIps,
    ipRuleScope,
    settlement,
    billingUnits,
    language,
    attemptTimeoutMs: { verification, other },
  };
}

function limitOrOff(limit: RateLimit | null): AuditedFields | 'off' {
  if (limit === null) return 'off';
  const { maxRequests, timeWindowMinutes } = limit;
  return { maxRequests, timeWindowMinutes };
}

function amountOrOff(amount: Money | null): number | 'off' {
  return amount === null ? 'off' : toIqd(amount);
}

function instantOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

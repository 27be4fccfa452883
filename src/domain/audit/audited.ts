import type { Project, ProjectSettings } from '../access/project.ts';
import { keyIdOf, type ProjectKey } from '../access/project-key.ts';
import type { Retention } from '../access/retention.ts';
import type { Account } from '../billing/account.ts';
import type { LowCredit } from '../billing/low-credit.ts';
import type { PriceChangeCounts } from '../billing/price-changes.ts';
import type { PriceVersion } from '../billing/price-version.ts';
import { inIqd } from '../billing/pricing.ts';
import type { RateLimit } from '../rate-limiting/rate-limiter.ts';
import type { ManagedSenderId } from '../senders/managed-sender-id.ts';
import type { CircuitBreaker } from '../shared/circuit-breaker.ts';
import { isoOrNull } from '../shared/instant.ts';
import { type Money, toIqd } from '../shared/money.ts';
import { endpointOf } from '../webhooks/endpoint.ts';
import type { InboundSecrets } from '../webhooks/inbound-secrets.ts';
import type { ResourceChanges } from '../whatsapp/resource-changes.ts';
import { countResources, type WhatsappBusiness } from '../whatsapp/whatsapp-resources.ts';
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
  return { keyId: keyIdOf(digest), endsAt: isoOrNull(endsAt), revokedAt: isoOrNull(revokedAt) };
}

/** An inbound webhook, by our id of its number. The query of its address may be a secret. */
export function auditedInboundWebhook({
  whatsappPhoneId,
  url,
  nextSecretFrom,
}: Pick<InboundSecrets, 'nextSecretFrom'> & {
  readonly whatsappPhoneId: string;
  readonly url: string;
}): AuditedFields {
  return { whatsappPhoneId, endpoint: endpointOf(url), overlapEndsAt: isoOrNull(nextSecretFrom) };
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

/** A sender ID with its prices. */
export function auditedSenderId({
  id,
  senderId,
  status,
  reason,
  pricePerSms,
}: ManagedSenderId): AuditedFields {
  return { id, senderId, status, reason, pricePerSms: inIqd(pricePerSms) };
}

/** The most ids of one kind of change that a record of whatsapp resources has. */
export const AUDITED_RESOURCES_MAX = 500;

/** Both sides of a change of whatsapp resources: counts, and the ids of what differs, up to `AUDITED_RESOURCES_MAX` each. */
export function auditedWhatsapp(
  before: readonly WhatsappBusiness[],
  after: readonly WhatsappBusiness[],
  { added, removed, changed }: ResourceChanges,
): { readonly before: AuditedFields; readonly after: AuditedFields } {
  return {
    before: { ...countResources(before), removed: removed.slice(0, AUDITED_RESOURCES_MAX) },
    after: {
      ...countResources(after),
      added: added.slice(0, AUDITED_RESOURCES_MAX),
      changed: changed.slice(0, AUDITED_RESOURCES_MAX),
    },
  };
}

/** What the mark of a restored database changed; of the campaigns the first `AUDITED_RESOURCES_MAX` ids. */
export function auditedRestore({
  restorePoint,
  messagesDatedLater,
  unscheduledCampaigns,
}: {
  readonly restorePoint: number | null;
  readonly messagesDatedLater: number;
  readonly unscheduledCampaigns: readonly string[];
}): AuditedFields {
  return {
    restorePoint: isoOrNull(restorePoint),
    messagesDatedLater,
    unscheduledCampaigns: unscheduledCampaigns.slice(0, AUDITED_RESOURCES_MAX),
  };
}

/** The circuit of a webhook destination. */
export function auditedCircuit({ openUntil }: CircuitBreaker): AuditedFields {
  return { state: openUntil === null ? 'closed' : 'open', until: isoOrNull(openUntil) };
}

/** A version of the price list. Its prices are in the history of versions, which is never changed either. */
export function auditedVersion({ id, effectiveFrom, rowCount, withdrawnAt }: PriceVersion): AuditedFields {
  return {
    version: id,
    effectiveFrom: isoOrNull(effectiveFrom),
    rows: rowCount,
    withdrawnAt: isoOrNull(withdrawnAt),
  };
}

/** An import: the system prices that it changes, and how many rows. */
export function auditedPriceChanges(
  { system, added, removed, changed }: PriceChangeCounts,
  replaces: string | null,
  version: PriceVersion,
): { readonly before: AuditedFields; readonly after: AuditedFields } {
  const earlier = system.map(({ name, before }) => [name, before === null ? null : toIqd(before)]);
  const later = system.map(({ name, after }) => [name, toIqd(after)]);
  return {
    before: { version: replaces, system: Object.fromEntries(earlier) },
    after: { ...auditedVersion(version), system: Object.fromEntries(later), added, removed, changed },
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
    retention: retentionOrOff(settings.retention),
    lowCredit: auditedLowCredit(settings.lowCredit),
    weight: settings.weight,
  } satisfies Record<keyof ProjectSettings, unknown>;
}

/** The notice of low credit: neither its secret nor the query of its address. */
export function auditedLowCredit(lowCredit: LowCredit | null): AuditedFields | 'off' {
  if (lowCredit === null) return 'off';
  const { amount, webhookUrl, webhookSecret } = lowCredit;
  return { amount: toIqd(amount), endpoint: endpointOf(webhookUrl), isSigned: webhookSecret !== null };
}

function limitOrOff(limit: RateLimit | null): AuditedFields | 'off' {
  if (limit === null) return 'off';
  const { maxRequests, timeWindowMinutes } = limit;
  return { maxRequests, timeWindowMinutes };
}

function retentionOrOff(retention: Retention | null): AuditedFields | 'off' {
  return retention === null ? 'off' : { days: retention.days, action: retention.action };
}

function amountOrOff(amount: Money | null): number | 'off' {
  return amount === null ? 'off' : toIqd(amount);
}

import type { IncomingMessage } from 'node:http';
import { millisecondsInSecond } from 'date-fns/constants';
import type { z } from 'zod';
import type { ListedKey } from '../../../../application/operators/manage-keys.ts';
import type { ProjectOverview } from '../../../../application/operators/manage-projects.ts';
import { SETTINGS_FRESH_MS } from '../../../../application/read-through-cache.ts';
import type { ProjectSettings } from '../../../../domain/access/project.ts';
import { keyIdOf, keyStatus } from '../../../../domain/access/project-key.ts';
import { type Account, creditOf } from '../../../../domain/billing/account.ts';
import type { Actor } from '../../../../domain/shared/actor.ts';
import { isoOf, isoOrNull } from '../../../../domain/shared/instant.ts';
import { iqd, type Money, toIqd } from '../../../../domain/shared/money.ts';
import type { PlainSecret } from '../../../../domain/shared/sealed-secret.ts';
import { CLI_AGENT } from '../../cli-agent.ts';
import type { DocumentedError } from '../../routing/documented.ts';
import { rejectionError } from '../../routing/rejection-errors.ts';
import { lowCreditOf, presentLowCredit } from './money/low-credit-schemas.ts';
import type { keySchema } from './projects/key-schemas.ts';
import type { changeProjectBody, projectSchema } from './projects/project-schemas.ts';
import { OFF } from './shared-schemas.ts';

export const NO_PROJECT: DocumentedError = {
  description: 'There is no such project',
  error: rejectionError({ kind: 'project-not-found' }),
};

/** When every process knows of a change. */
export const FRESH = `within ${SETTINGS_FRESH_MS / millisecondsInSecond} seconds`;

/** The 400 of a body. */
export function invalidBody(text: string): DocumentedError {
  return { description: 'The body is not valid', error: { status: 400, code: 'validation-failed', text } };
}

/** Through what the token was used. It says nothing about rights: everybody here has the token. */
export function actorOf({ headers }: IncomingMessage): Actor {
  return headers['user-agent']?.startsWith(CLI_AGENT) === true ? 'cli' : 'operator';
}

type SettingFields = Omit<z.output<typeof changeProjectBody>, 'name' | 'spendingThreshold'>;

/** The settings that a body names. */
export function settingsOf(body: SettingFields): Partial<ProjectSettings<PlainSecret>> {
  const { rateLimit, addressRateLimit, retention, lowCredit, attemptTimeoutSeconds: timeouts } = body;
  const settings = {
    rateLimit: rateLimit === OFF ? null : rateLimit,
    addressRateLimit: addressRateLimit === OFF ? null : addressRateLimit,
    allowedIps: body.allowedIps,
    ipRuleScope: body.ipRuleScope,
    settlement: body.settlement,
    billingUnits: body.billingUnits,
    language: body.language,
    attemptTimeoutMs: timeouts && {
      verification: timeouts.verification * millisecondsInSecond,
      other: timeouts.other * millisecondsInSecond,
    },
    retention: retention === OFF ? null : retention,
    lowCredit: lowCredit === OFF ? null : lowCredit && lowCreditOf(lowCredit),
    weight: body.weight,
  } satisfies { [Name in keyof ProjectSettings]: ProjectSettings<PlainSecret>[Name] | undefined };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

export function thresholdOf(threshold: number | typeof OFF): Money | null {
  return threshold === OFF ? null : iqd(threshold);
}

export function presentMoney(account: Account) {
  return {
    credit: toIqd(creditOf(account)),
    balance: toIqd(account.balance),
    held: toIqd(account.held),
    spent: toIqd(account.spent),
    isTrial: account.trialPhoneNumber !== null,
  };
}

export function presentProject({ project, account }: ProjectOverview): z.input<typeof projectSchema> {
  const { id, name, slug, environment, archivedAt, settings } = project;
  const { rateLimit, addressRateLimit, allowedIps, ipRuleScope, settlement, billingUnits, language } =
    settings;
  const { verification, other } = settings.attemptTimeoutMs;
  return {
    id,
    name,
    slug,
    environment,
    archivedAt: isoOrNull(archivedAt),
    paymentType: account.paymentType,
    ...presentMoney(account),
    spendingThreshold: account.spendingThreshold === null ? OFF : toIqd(account.spendingThreshold),
    rateLimit: rateLimit ?? OFF,
    addressRateLimit: addressRateLimit ?? OFF,
    allowedIps: [...allowedIps],
    ipRuleScope,
    settlement,
    billingUnits,
    language,
    attemptTimeoutSeconds: {
      verification: verification / millisecondsInSecond,
      other: other / millisecondsInSecond,
    },
    retention: settings.retention ?? OFF,
    lowCredit: settings.lowCredit === null ? OFF : presentLowCredit(settings.lowCredit),
    weight: settings.weight,
  };
}

export function presentKey({ project, key, now }: ListedKey): z.input<typeof keySchema> {
  return {
    id: keyIdOf(key.digest),
    prefix: `sk_${project.environment}_`,
    lastFour: key.lastFour,
    status: keyStatus(key, now),
    createdAt: isoOf(key.createdAt),
    endsAt: isoOrNull(key.endsAt),
    revokedAt: isoOrNull(key.revokedAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
  };
}

import { millisecondsInSecond } from 'date-fns/constants';
import type { z } from 'zod';
import type { ProjectOverview } from '../../../../../application/operators/manage-projects.ts';
import { isoOrNull } from '../../../../../domain/shared/instant.ts';
import { toIqd } from '../../../../../domain/shared/money.ts';
import { presentLowCredit } from '../money/low-credit-schemas.ts';
import { presentMoney } from '../money/money-presenters.ts';
import { OFF } from '../shared-schemas.ts';
import type { projectSchema } from './project-schemas.ts';

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

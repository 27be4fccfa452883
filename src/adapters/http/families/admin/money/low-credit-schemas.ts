import { z } from 'zod';
import type { LowCredit } from '../../../../../domain/billing/low-credit.ts';
import { iqd, toIqd } from '../../../../../domain/shared/money.ts';
import type { PlainSecret } from '../../../../../domain/shared/sealed-secret.ts';
import { messageOfField } from '../../../input/union-error.ts';
import { webhookSecretField, webhookUrlField } from '../../webhooks/webhook-fields.ts';
import { amountField, OFF, SMALLEST_IQD } from '../shared-schemas.ts';

const amount = amountField('lowCredit.amount', SMALLEST_IQD).meta({
  description: 'The credit below which the project is told, in IQD',
  examples: [5_000],
});

const webhookUrl = webhookUrlField('lowCredit.webhookUrl').meta({
  examples: ['https://shop.example/credit'],
});

const webhookSecret = webhookSecretField('lowCredit.webhookSecret').meta({
  description: 'Signs each webhook. Left out, the stored one stays for as long as the address stays.',
  examples: ['a-secret-of-your-own'],
});

const LOW_CREDIT_ERROR = `lowCredit must be "${OFF}", or an object with amount and webhookUrl`;
const given = z.object(
  { amount, webhookUrl, webhookSecret: webhookSecret.optional() },
  { error: LOW_CREDIT_ERROR },
);
/** The setting `lowCredit` of a project in a request; `off` tells nobody. */
export const lowCreditField = z
  .union([z.literal(OFF), given], { error: (issue) => messageOfField(issue) ?? LOW_CREDIT_ERROR })
  .meta({
    description: 'Where a prepaid project is told that its credit fell below an amount; `off` tells nobody',
    examples: [{ amount: 5_000, webhookUrl: 'https://shop.example/credit' }],
  });

const shown = z.object({
  amount: z.number().meta({ description: 'In IQD', examples: [5_000] }),
  webhookUrl: z.string().meta({ description: 'Where it is told', examples: ['https://shop.example/credit'] }),
  isSigned: z.boolean().meta({ description: 'Whether there is a secret', examples: [true] }),
});
/** The same in a reply. The secret is never shown. */
export const shownLowCredit = z
  .union([z.literal(OFF), shown])
  .meta({ description: 'The notice of low credit', examples: [OFF] });

/** The setting as a body gives it, with its secret in plain text. */
export function lowCreditOf(given: {
  readonly amount: number;
  readonly webhookUrl: string;
  readonly webhookSecret?: string | undefined;
}): LowCredit<PlainSecret> {
  return {
    amount: iqd(given.amount),
    webhookUrl: given.webhookUrl,
    webhookSecret: given.webhookSecret ?? null,
  };
}

export function presentLowCredit(lowCredit: LowCredit) {
  const { amount: below, webhookUrl: url, webhookSecret: secret } = lowCredit;
  return { amount: toIqd(below), webhookUrl: url, isSigned: secret !== null };
}

import type { LowCreditNotice } from '../billing/low-credit.ts';
import { isoOf } from '../shared/instant.ts';
import { toIqd } from '../shared/money.ts';
import { endpointOf } from './endpoint.ts';
import { newEvent, type WebhookEvent } from './webhook-event.ts';

export const LOW_CREDIT_EVENT_NAME = 'credit.low';

/** The body of a low credit webhook. Amounts are in IQD, `at` is ISO 8601. */
export interface LowCreditPayload {
  readonly event: typeof LOW_CREDIT_EVENT_NAME;
  /** The slug. */
  readonly project: string;
  readonly credit: number;
  readonly amount: number;
  readonly at: string;
}

/** The event that tells of low credit; not scheduled yet. A newer one of the project supersedes one that waits for its retry. */
export function lowCreditEvent(
  id: string,
  { projectId, slug, credit, lowCredit, at }: LowCreditNotice,
): WebhookEvent {
  const { amount, webhookUrl, webhookSecret } = lowCredit;
  const payload: LowCreditPayload = {
    event: LOW_CREDIT_EVENT_NAME,
    project: slug,
    credit: toIqd(credit),
    amount: toIqd(amount),
    at: isoOf(at),
  };
  return {
    ...newEvent(id, at),
    kind: 'credit',
    projectId,
    orderingKey: `${LOW_CREDIT_EVENT_NAME}/${projectId}`,
    whatsappPhoneId: null,
    url: webhookUrl,
    endpoint: endpointOf(webhookUrl),
    secret: webhookSecret,
    body: JSON.stringify(payload),
  };
}

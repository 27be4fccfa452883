import { keptSince, type Retention, type RetentionAction } from '../access/retention.ts';
import { billingStatusOf, type Campaign } from '../campaigns/campaign.ts';
import type { ChannelAttempt, Message } from '../messages/message.ts';
import type { Content } from '../messages/send-request.ts';
import { ERASED_NUMBER } from '../shared/phone-number.ts';

/** What else decides whether a message may go. */
export interface MessageContext {
  /** Whether a webhook event of the message is still to be delivered. */
  readonly hasOpenWebhook: boolean;
  /** The campaign of the message; null for a single send, and when the campaign is gone. */
  readonly campaign: Campaign | null;
}

/** `wait`: it is old enough, and something of it is not over yet. */
export type MessageFate = RetentionAction | 'keep' | 'wait';

/**
 * What happens to a message now. Only a final message goes: its hold is settled. A message of a campaign is as old as the end of
 * its campaign, so that all recipients go together.
 */
export function fateOf(
  message: Pick<Message, 'createdAt' | 'isFinal'>,
  { hasOpenWebhook, campaign }: MessageContext,
  retention: Retention,
  now: number,
): MessageFate {
  if (message.createdAt >= keptSince(retention, now)) return 'keep';
  const isOver =
    message.isFinal && !hasOpenWebhook && (campaign === null || isRetentionOver(campaign, retention, now));
  return isOver ? retention.action : 'wait';
}

/** Whether the numbers of a campaign go now: it has ended long enough ago, and all its holds are settled. */
export function isRetentionOver(campaign: Campaign, retention: Retention, now: number): boolean {
  const { completedAt } = campaign;
  return (
    completedAt !== null &&
    completedAt < keptSince(retention, now) &&
    billingStatusOf(campaign) !== 'reserved'
  );
}

/**
 * The message without number, content, reasons, ids of providers and subscription. Project, status, times, channels and money
 * stay. Idempotent.
 */
export function anonymised(message: Message): Message {
  return {
    ...message,
    phoneNumber: ERASED_NUMBER,
    phoneNumberAsSent: ERASED_NUMBER,
    whatsappSender: { accountId: null, phoneId: null, templateName: null },
    content: emptied(message.content),
    attempts: message.attempts.map(withoutTrace),
    deliveryReport: null,
    errorReason: null,
  };
}

function emptied({ smsType }: Content): Content {
  switch (smsType) {
    case 'verification':
      return { smsType, verificationCode: '' };
    case 'custom':
      return { smsType, customMessage: '' };
    case 'whatsapp-template':
      return { smsType, templateName: '', templateParameters: {} };
    default:
      return smsType satisfies never;
  }
}

function withoutTrace(attempt: ChannelAttempt): ChannelAttempt {
  return { ...attempt, reason: null, providerMessageIds: [], deliveredIds: [] };
}

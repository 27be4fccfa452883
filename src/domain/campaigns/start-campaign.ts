import type { Project } from '../access/project.ts';
import {
  type Account,
  holdRejections,
  type InsufficientCredit,
  type SpendingThresholdExceeded,
} from '../billing/account.ts';
import type { PriceList } from '../billing/pricing.ts';
import type { Message } from '../messages/message.ts';
import { newMessage } from '../messages/new-message.ts';
import type { Channel } from '../shared/channel.ts';
import { add, type Money, times } from '../shared/money.ts';
import { findTemplate, type WhatsappBusiness } from '../whatsapp/whatsapp-resources.ts';
import {
  numbersRejection,
  parametersRejections,
  type RecipientParameters,
  type UnsupportedNumbers,
} from './attach-recipients.ts';
import type { Campaign } from './campaign.ts';
import {
  type CampaignSender,
  type CampaignSenderRejection,
  decideSender,
  senderRejections,
} from './campaign-sender.ts';
import { type Recipient, type RecipientCosts, smsIdOf } from './recipient.ts';

/** Everything the start of a campaign reads. */
export interface StartState {
  readonly project: Project;
  readonly account: Account;
  readonly campaign: Campaign;
  /** In the order of their positions. */
  readonly recipients: readonly Recipient[];
  readonly prices: PriceList;
  readonly businesses: readonly WhatsappBusiness[];
  /** The channels that have a provider for the project. */
  readonly availableChannels: readonly Channel[];
}

export type StartRejection =
  | CampaignSenderRejection
  | RecipientParameters
  | UnsupportedNumbers
  | { readonly kind: 'campaign-without-recipients' }
  | { readonly kind: 'channel-not-available'; readonly channel: Channel }
  | { readonly kind: 'trial-mode' }
  | SpendingThresholdExceeded
  | InsufficientCredit;

/** A started campaign: its recipients, and a message for each of them in the same order. */
export interface CampaignStarted {
  readonly kind: 'started';
  /** The account after the holds. */
  readonly account: Account;
  readonly campaign: Campaign;
  /** What each recipient costs. */
  readonly costs: RecipientCosts;
  readonly recipients: readonly Recipient[];
  readonly messages: readonly Message[];
  readonly sender: CampaignSender;
}

/** Campaigns go over whatsapp alone. */
const CAMPAIGN_CHAIN: readonly Channel[] = ['whatsapp'];

/**
 * Specification 4.14: reserves the cost of all recipients and makes their messages, or rejects the start as a whole. Whether the
 * status of the campaign allows a start is the caller's question: by hand, at its time, or as a sample.
 */
export function startCampaign(state: StartState, now: number): CampaignStarted | StartRejection {
  const { project, account, campaign, recipients, prices, businesses } = state;
  const [rejection] = startRejections(state);
  if (rejection !== undefined) return rejection;
  const sender = decideSender(businesses, campaign);
  if (sender.kind !== 'sender') return sender;
  const cost = recipientPrice(prices, sender);
  const costs = { estimatedCost: cost, billingState: 'reserved' } as const;
  const reserved = times(cost, recipients.length);
  return {
    kind: 'started',
    account: { ...account, held: add(account.held, reserved) },
    sender,
    campaign: {
      ...campaign,
      category: sender.category,
      status: 'running',
      startedAt: now,
      estimatedCost: reserved,
      reserved,
      updatedAt: now,
    },
    costs,
    recipients: recipients.map((recipient) => ({ ...recipient, ...costs })),
    messages: recipients.map((recipient) => messageOf(recipient, project, sender, cost, now)),
  };
}

/** Everything that keeps the campaign from starting, one recipient at a time; the first is what a start is rejected with. */
export function startRejections({
  project,
  account,
  campaign,
  recipients,
  prices,
  businesses,
  availableChannels,
}: StartState): readonly StartRejection[] {
  const rejections: (StartRejection | null)[] = [];
  if (recipients.length === 0) rejections.push({ kind: 'campaign-without-recipients' });
  rejections.push(...senderRejections(businesses, campaign));
  const template = findTemplate(businesses, campaign.templateId);
  if (template !== null) {
    rejections.push(...parametersRejections(recipients, template));
  }
  rejections.push(numbersRejection(recipients, project.environment, prices));
  const unavailable = CAMPAIGN_CHAIN.find((channel) => !availableChannels.includes(channel));
  if (unavailable !== undefined) rejections.push({ kind: 'channel-not-available', channel: unavailable });
  const { trialPhoneNumber } = account;
  if (trialPhoneNumber !== null && recipients.some(({ phoneNumber }) => phoneNumber !== trialPhoneNumber)) {
    rejections.push({ kind: 'trial-mode' });
  }
  const cost = times(recipientPrice(prices, pricedBy(businesses, campaign)), recipients.length);
  rejections.push(...holdRejections(account, cost));
  return rejections.filter((rejection) => rejection !== null);
}

/** Whose category a start is priced by: that of the template as it is now, or of the campaign while nothing can be sent. */
export function pricedBy(
  businesses: readonly WhatsappBusiness[],
  campaign: Campaign,
): Pick<Campaign, 'category'> {
  const sender = decideSender(businesses, campaign);
  return sender.kind === 'sender' ? sender : campaign;
}

/** The price of one recipient. */
export function recipientPrice(prices: PriceList, { category }: Pick<Campaign, 'category'>): Money {
  return prices.whatsapp[category];
}

function messageOf(
  { id, campaignId, phoneNumber, phoneNumberAsSent, templateParameters }: Recipient,
  project: Project,
  { account, phoneNumber: from, template }: CampaignSender,
  cost: Money,
  now: number,
): Message {
  const message = newMessage(
    smsIdOf(id),
    project,
    {
      phoneNumber,
      phoneNumberAsSent,
      provider: 'whatsapp',
      senderId: null,
      content: { smsType: 'whatsapp-template', templateName: template.name, templateParameters },
      whatsappSender: {
        accountId: account.id,
        phoneId: from.id,
        templateName: template.name,
        templateId: template.id,
      },
      deliveryReport: null,
    },
    {
      channels: CAMPAIGN_CHAIN,
      cost,
      prices: { whatsapp: cost },
      attemptTimeoutMs: project.settings.attemptTimeoutMs.other,
    },
    now,
  );
  return { ...message, campaignId };
}

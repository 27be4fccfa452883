import {
  findPhoneNumber,
  findTemplate,
  TEMPLATE_STATUS_APPROVED,
  type WhatsappAccount,
  type WhatsappBusiness,
  type WhatsappPhoneNumber,
  type WhatsappTemplate,
} from '../whatsapp/whatsapp-resources.ts';
import { CAMPAIGN_CATEGORIES, type CampaignCategory } from './campaign.ts';

/** What a campaign sends and from where. */
export interface CampaignSender {
  readonly kind: 'sender';
  readonly account: WhatsappAccount;
  readonly phoneNumber: WhatsappPhoneNumber;
  readonly template: WhatsappTemplate;
  readonly category: CampaignCategory;
}

export type CampaignSenderRejection =
  | { readonly kind: 'campaign-template-not-found' }
  | { readonly kind: 'campaign-phone-not-found' }
  | { readonly kind: 'campaign-accounts-differ' }
  | { readonly kind: 'campaign-category' }
  | { readonly kind: 'template-not-approved' };

interface SenderIds {
  readonly templateId: string;
  readonly whatsappPhoneId: string;
}

/**
 * Specification 4.10: finds template and number in one account of the project. A template that is not approved may be
 * planned with; `decideSender` is for what is about to be sent.
 */
export function findSender(
  businesses: readonly WhatsappBusiness[],
  ids: SenderIds,
): CampaignSender | CampaignSenderRejection {
  const template = findTemplate(businesses, ids.templateId);
  if (template === null) return { kind: 'campaign-template-not-found' };
  const from = findPhoneNumber(businesses, ids.whatsappPhoneId);
  if (from === null) return { kind: 'campaign-phone-not-found' };
  if (!from.account.templates.includes(template)) return { kind: 'campaign-accounts-differ' };
  const category = categoryOf(template);
  if (category === null) return { kind: 'campaign-category' };
  const { account, phoneNumber } = from;
  return { kind: 'sender', account, phoneNumber, template, category };
}

/** As `findSender`, with a template that is approved. */
export function decideSender(
  businesses: readonly WhatsappBusiness[],
  ids: SenderIds,
): CampaignSender | CampaignSenderRejection {
  const [rejection] = senderRejections(businesses, ids);
  return rejection ?? findSender(businesses, ids);
}

/** Everything that keeps the template from being sent from the number; the first is what `decideSender` rejects with. */
export function senderRejections(
  businesses: readonly WhatsappBusiness[],
  ids: SenderIds,
): readonly CampaignSenderRejection[] {
  const template = findTemplate(businesses, ids.templateId);
  const account = findPhoneNumber(businesses, ids.whatsappPhoneId)?.account;
  const rejections: CampaignSenderRejection[] = [];
  if (template === null) rejections.push({ kind: 'campaign-template-not-found' });
  if (account === undefined) rejections.push({ kind: 'campaign-phone-not-found' });
  if (template === null) return rejections;
  if (account?.templates.includes(template) === false) rejections.push({ kind: 'campaign-accounts-differ' });
  if (categoryOf(template) === null) rejections.push({ kind: 'campaign-category' });
  if (template.status !== TEMPLATE_STATUS_APPROVED) rejections.push({ kind: 'template-not-approved' });
  return rejections;
}

/** Null for a template that no campaign may send. */
function categoryOf({ category }: WhatsappTemplate): CampaignCategory | null {
  return CAMPAIGN_CATEGORIES.find((each) => each === category) ?? null;
}

import {
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
  const from = findNumber(businesses, ids.whatsappPhoneId);
  if (from === null) return { kind: 'campaign-phone-not-found' };
  if (!from.account.templates.includes(template)) return { kind: 'campaign-accounts-differ' };
  const category = categoryOf(template);
  if (category === null) return { kind: 'campaign-category' };
  return { kind: 'sender', ...from, template, category };
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
  const account = findNumber(businesses, ids.whatsappPhoneId)?.account;
  const rejections: CampaignSenderRejection[] = [];
  if (template === null) rejections.push({ kind: 'campaign-template-not-found' });
  if (account === undefined) rejections.push({ kind: 'campaign-phone-not-found' });
  if (template === null) return rejections;
  if (account?.templates.includes(template) === false) rejections.push({ kind: 'campaign-accounts-differ' });
  if (categoryOf(template) === null) rejections.push({ kind: 'campaign-category' });
  if (template.status !== TEMPLATE_STATUS_APPROVED) rejections.push({ kind: 'template-not-approved' });
  return rejections;
}

/** The template with our 24-hex id, whatever account has it. */
export function findTemplate(
  businesses: readonly WhatsappBusiness[],
  templateId: string,
): WhatsappTemplate | null {
  for (const { templates } of businesses.flatMap(({ whatsappAccounts }) => whatsappAccounts)) {
    const template = templates.find(({ id }) => id === templateId);
    if (template !== undefined) return template;
  }
  return null;
}

/** The number with our 24-hex id, and the account that has it. */
function findNumber(
  businesses: readonly WhatsappBusiness[],
  whatsappPhoneId: string,
): Pick<CampaignSender, 'account' | 'phoneNumber'> | null {
  for (const account of businesses.flatMap(({ whatsappAccounts }) => whatsappAccounts)) {
    const phoneNumber = account.phoneNumbers.find(({ id }) => id === whatsappPhoneId);
    if (phoneNumber !== undefined) return { account, phoneNumber };
  }
  return null;
}

/** Null for a template that no campaign may send. */
function categoryOf({ category }: WhatsappTemplate): CampaignCategory | null {
  return CAMPAIGN_CATEGORIES.find((each) => each === category) ?? null;
}

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
  readonly phoneNumberId: string;
}

/**
 * Specification 4.10: finds template and number in one account of the project. A template that is not approved may be
 * planned with; `decideSender` is for what is about to be sent.
 */
export function findSender(
  businesses: readonly WhatsappBusiness[],
  { templateId, phoneNumberId }: SenderIds,
): CampaignSender | CampaignSenderRejection {
  const accounts = businesses.flatMap(({ whatsappAccounts }) => whatsappAccounts);
  const template = findTemplate(businesses, templateId);
  if (template === null) return { kind: 'campaign-template-not-found' };
  const account = accounts.find(({ phoneNumbers }) => phoneNumbers.some(({ id }) => id === phoneNumberId));
  const phoneNumber = account?.phoneNumbers.find(({ id }) => id === phoneNumberId);
  if (account === undefined || phoneNumber === undefined) return { kind: 'campaign-phone-not-found' };
  if (!account.templates.includes(template)) return { kind: 'campaign-accounts-differ' };
  const category = CAMPAIGN_CATEGORIES.find((each) => each === template.category);
  if (category === undefined) return { kind: 'campaign-category' };
  return { kind: 'sender', account, phoneNumber, template, category };
}

/** As `findSender`, with a template that is approved. */
export function decideSender(
  businesses: readonly WhatsappBusiness[],
  ids: SenderIds,
): CampaignSender | CampaignSenderRejection {
  const found = findSender(businesses, ids);
  if (found.kind !== 'sender' || found.template.status === TEMPLATE_STATUS_APPROVED) return found;
  return { kind: 'template-not-approved' };
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

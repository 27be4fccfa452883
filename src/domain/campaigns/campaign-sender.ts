import { invariant } from '../shared/invariant.ts';
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
  ids: SenderIds,
): CampaignSender | CampaignSenderRejection {
  const { template, account, phoneNumber, category } = partsOf(businesses, ids);
  const rejection = senderRejections(businesses, ids).find(({ kind }) => kind !== 'template-not-approved');
  if (rejection !== undefined) return rejection;
  invariant(
    template !== null && account !== null && phoneNumber !== null && category !== null,
    'a sender without a rejection has every part',
  );
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
  const { template, account, category } = partsOf(businesses, ids);
  const rejections: CampaignSenderRejection[] = [];
  if (template === null) rejections.push({ kind: 'campaign-template-not-found' });
  if (account === null) rejections.push({ kind: 'campaign-phone-not-found' });
  if (template === null) return rejections;
  if (account?.templates.includes(template) === false) rejections.push({ kind: 'campaign-accounts-differ' });
  if (category === null) rejections.push({ kind: 'campaign-category' });
  if (template.status !== TEMPLATE_STATUS_APPROVED) rejections.push({ kind: 'template-not-approved' });
  return rejections;
}

/** What the ids name, each by itself; null where they name nothing. The account is that of the number. */
function partsOf(businesses: readonly WhatsappBusiness[], { templateId, phoneNumberId }: SenderIds) {
  const accounts = businesses.flatMap(({ whatsappAccounts }) => whatsappAccounts);
  const account = accounts.find(({ phoneNumbers }) => phoneNumbers.some(({ id }) => id === phoneNumberId));
  const template = findTemplate(businesses, templateId);
  return {
    template,
    account: account ?? null,
    phoneNumber: account?.phoneNumbers.find(({ id }) => id === phoneNumberId) ?? null,
    category: CAMPAIGN_CATEGORIES.find((each) => each === template?.category) ?? null,
  };
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

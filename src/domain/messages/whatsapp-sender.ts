import { missingField } from '../whatsapp/template-parameters.ts';
import {
  findAccount,
  findPhoneNumber,
  TEMPLATE_STATUS_APPROVED,
  type WhatsappAccount,
  type WhatsappBusiness,
} from '../whatsapp/whatsapp-resources.ts';
import type { SendRequest } from './send-request.ts';

export type WhatsappRejection =
  | { readonly kind: 'whatsapp-account-not-found' }
  | { readonly kind: 'whatsapp-phone-not-found' }
  | { readonly kind: 'template-not-found' }
  | { readonly kind: 'template-not-approved' }
  | { readonly kind: 'template-parameter-missing'; readonly path: string };

export interface WhatsappSenderUsable {
  readonly kind: 'usable';
  /** The template's own category, which is its price; null when no template is named. */
  readonly category: string | null;
}

/** Whether the whatsapp number and template a request names are the project's, approved and filled in. */
export function decideWhatsappSender(
  { content, whatsappSender }: SendRequest,
  businesses: readonly WhatsappBusiness[],
): WhatsappSenderUsable | WhatsappRejection {
  const { accountId, phoneId } = whatsappSender;
  const account = accountId === null ? null : findAccount(businesses, accountId);
  if (accountId !== null && account === null) return { kind: 'whatsapp-account-not-found' };
  if (phoneId !== null && !hasPhone(account, businesses, phoneId)) {
    return { kind: 'whatsapp-phone-not-found' };
  }
  const templatesNamed = (name: string) => account?.templates.filter((each) => each.name === name) ?? [];
  if (content.smsType !== 'whatsapp-template') {
    // Without an account nobody can say whose template is meant.
    const { templateName } = whatsappSender;
    const isUnknown = account !== null && templateName !== null && templatesNamed(templateName).length === 0;
    return isUnknown ? { kind: 'template-not-found' } : { kind: 'usable', category: null };
  }

  const named = templatesNamed(content.templateName);
  if (named.length === 0) return { kind: 'template-not-found' };
  const template = named.find((candidate) => candidate.status === TEMPLATE_STATUS_APPROVED);
  if (template === undefined) return { kind: 'template-not-approved' };
  const missing = missingField(template, content.templateParameters);
  if (missing !== null) {
    return { kind: 'template-parameter-missing', path: ['templateParameters', ...missing.path].join('.') };
  }
  return { kind: 'usable', category: template.category };
}

function hasPhone(
  account: WhatsappAccount | null,
  businesses: readonly WhatsappBusiness[],
  phoneId: string,
): boolean {
  if (account === null) return findPhoneNumber(businesses, phoneId) !== null;
  return account.phoneNumbers.some(({ id }) => id === phoneId);
}

import { accountsOf, approvedTemplate } from '../whatsapp/sending.ts';
import { type ParameterRejection, parameterCheck } from '../whatsapp/template-parameters.ts';
import { findAccount, type WhatsappBusiness } from '../whatsapp/whatsapp-resources.ts';
import type { SendRequest } from './send-request.ts';

export type WhatsappRejection =
  | { readonly kind: 'whatsapp-account-not-found' }
  /** `within` is where the number had to be: in the account of the request, or anywhere in the project. */
  | { readonly kind: 'whatsapp-phone-not-found'; readonly within: 'account' | 'project' }
  | { readonly kind: 'template-not-found' }
  | { readonly kind: 'template-not-approved' }
  | ParameterRejection;

export interface WhatsappSenderUsable {
  readonly kind: 'usable';
  /** The category of the template that is sent, which decides its price; null for a code or text. */
  readonly category: string | null;
}

/**
 * Whether the whatsapp number and template a request names are the project's, approved and filled in. A code or text may
 * name a template without an account: then the account of the number has it or, without a number, any account of the project.
 */
export function decideWhatsappSender(
  { content, whatsappSender }: SendRequest,
  businesses: readonly WhatsappBusiness[],
): WhatsappSenderUsable | WhatsappRejection {
  const { accountId, phoneId } = whatsappSender;
  const account = accountId === null ? null : findAccount(businesses, accountId);
  if (accountId !== null && account === null) return { kind: 'whatsapp-account-not-found' };
  const accounts = accountsOf(businesses, whatsappSender);
  if (phoneId !== null && accounts.length === 0) {
    return { kind: 'whatsapp-phone-not-found', within: account === null ? 'project' : 'account' };
  }
  const isTemplate = content.smsType === 'whatsapp-template';
  const name = isTemplate ? content.templateName : whatsappSender.templateName;
  if (name === null) return { kind: 'usable', category: null };
  if (isTemplate && account === null) return { kind: 'template-not-found' };
  const sendable = approvedTemplate(accounts, name);
  if (sendable === null) {
    const isPresent = accounts.some(({ templates }) => templates.some((template) => template.name === name));
    return { kind: isPresent ? 'template-not-approved' : 'template-not-found' };
  }
  if (!isTemplate) return { kind: 'usable', category: null };
  const { template } = sendable;
  return (
    parameterCheck(template)(content.templateParameters) ?? {
      kind: 'usable',
      category: template.category,
    }
  );
}

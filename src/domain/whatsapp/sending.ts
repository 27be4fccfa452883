import { requiredFields, type TemplateParameters } from './template-parameters.ts';
import {
  accountsIn,
  TEMPLATE_STATUS_APPROVED,
  type WhatsappAccount,
  type WhatsappBusiness,
  type WhatsappPhoneNumber,
  type WhatsappTemplate,
} from './whatsapp-resources.ts';

/** The account and the number that a caller named; both ids are ours. */
export interface NamedSender {
  readonly accountId: string | null;
  readonly phoneId: string | null;
}

/** A template that can be sent, and the account that has it. */
export interface SendableTemplate {
  readonly account: WhatsappAccount;
  readonly template: WhatsappTemplate;
}

const AUTHENTICATION = 'AUTHENTICATION';
const CONNECTED = 'CONNECTED';
const OTP_BUTTON = 'OTP';
/** The only placeholder of a template for codes, and of its button. */
const CODE_KEY = '1';

/** The accounts that have what the caller named; all of them when nothing was. */
export function accountsOf(
  businesses: readonly WhatsappBusiness[],
  { accountId, phoneId }: NamedSender,
): readonly WhatsappAccount[] {
  return accountsIn(businesses).filter(
    ({ id, phoneNumbers }) =>
      (accountId === null || id === accountId) &&
      (phoneId === null || phoneNumbers.some((number) => number.id === phoneId)),
  );
}

/**
 * The template with our 24-hex id; without an id the first approved one of this name, in any language. Null when no account has
 * it, or it is not approved: another language of the name never stands in for the one with the id.
 */
export function approvedTemplate(
  accounts: readonly WhatsappAccount[],
  name: string,
  templateId?: string,
): SendableTemplate | null {
  for (const account of accounts) {
    const template = account.templates.find(
      (candidate) =>
        (templateId === undefined ? candidate.name === name : candidate.id === templateId) &&
        candidate.status === TEMPLATE_STATUS_APPROVED,
    );
    if (template !== undefined) return { account, template };
  }
  return null;
}

/**
 * The number of the account to send from: the one that the caller named, else the preferred one (by the platform's id), else
 * the first that is connected. Null when the account has none.
 */
export function sendingNumber(
  { phoneNumbers }: WhatsappAccount,
  phoneId: string | null,
  preferred: string | null,
): WhatsappPhoneNumber | null {
  if (phoneId !== null) return phoneNumbers.find(({ id }) => id === phoneId) ?? null;
  return (
    phoneNumbers.find(({ phoneNumberId }) => phoneNumberId === preferred) ??
    phoneNumbers.find(({ status }) => status === CONNECTED) ??
    phoneNumbers[0] ??
    null
  );
}

/**
 * The parameters that carry a code: the first of the body and, of a template for codes, each of its buttons, which the platform
 * asks for although the caller never sees them.
 */
export function codeParameters(template: WhatsappTemplate, code: string): TemplateParameters {
  const bodyKey = requiredFields(template).find(({ path }) => path[0] === 'body')?.key ?? CODE_KEY;
  const body = { [bodyKey]: code };
  if (template.category !== AUTHENTICATION) return { body };
  const positions = template.components.flatMap(({ buttons = [] }) =>
    buttons.flatMap((button, index) =>
      button.type === OTP_BUTTON || (button.url ?? '').includes('{{') ? [index] : [],
    ),
  );
  const buttons = positions.length === 0 ? [0] : positions;
  return { body, buttons: Object.fromEntries(buttons.map((index) => [index, { [CODE_KEY]: code }])) };
}

/**
 * The caller's parameters as the platform wants them: the button of a template for codes takes the code of the body, unless the
 * caller gave it one.
 */
export function sentParameters(template: WhatsappTemplate, given: TemplateParameters): TemplateParameters {
  const [code] = Object.values(given.body ?? {});
  if (template.category !== AUTHENTICATION || code === undefined) return given;
  const filled = Object.entries(given.buttons ?? {}).filter(([, values]) => Object.keys(values).length > 0);
  const { buttons } = codeParameters(template, String(code));
  return { ...given, buttons: { ...buttons, ...Object.fromEntries(filled) } };
}

/** The parameters that carry a text; null when the template asks for anything but one parameter of its body. */
export function textParameters(template: WhatsappTemplate, text: string): TemplateParameters | null {
  const [field, ...others] = requiredFields(template);
  if (field === undefined || field.path[0] !== 'body' || others.length > 0) return null;
  return { body: { [field.key]: text } };
}

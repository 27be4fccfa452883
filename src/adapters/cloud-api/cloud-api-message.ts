import type { Submission } from '../../application/ports/channel-provider.ts';
import { attemptName } from '../../domain/chain/attempt-name.ts';
import {
  accountsOf,
  approvedTemplate,
  codeParameters,
  sendingNumber,
  sentParameters,
  textParameters,
} from '../../domain/whatsapp/sending.ts';
import type { ParameterValue, TemplateParameters } from '../../domain/whatsapp/template-parameters.ts';
import {
  accountsIn,
  type TemplateComponent,
  type WhatsappBusiness,
  type WhatsappTemplate,
} from '../../domain/whatsapp/whatsapp-resources.ts';

/** The template for codes of callers that name none. */
export interface VerificationTemplate {
  readonly name: string;
  readonly language: string;
}

/** What the configuration sends with when a caller names nothing. */
export interface SendingDefaults {
  /** The platform's id of a number. */
  readonly phoneNumberId: string | null;
  /** Belongs to the account of `phoneNumberId`. */
  readonly verificationTemplate: VerificationTemplate | null;
}

/** What is sent, and from which number (the platform's id); or why nothing can be. */
export type PlannedMessage =
  | {
      readonly kind: 'send';
      readonly phoneNumberId: string;
      readonly body: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'no-sender'; readonly reason: string };

type Planned =
  | { readonly type: 'text' }
  | {
      readonly type: 'template';
      readonly template: WhatsappTemplate;
      readonly parameters: TemplateParameters;
    };

/** Meta's media object of a header, and the caller's name of its URL. */
const MEDIA: Readonly<Record<string, { readonly type: string; readonly key: string }>> = {
  IMAGE: { type: 'image', key: 'imageUrl' },
  VIDEO: { type: 'video', key: 'videoUrl' },
  DOCUMENT: { type: 'document', key: 'documentUrl' },
};

/**
 * The request for one message. Pure: everything follows from the submission, the resources of its project and the defaults.
 * How long Meta tries to deliver a template (`messageSendTtlSeconds`) belongs to the template: no request can change it.
 */
export function planMessage(
  submission: Submission,
  businesses: readonly WhatsappBusiness[],
  defaults: SendingDefaults,
): PlannedMessage {
  const { content, whatsappSender } = submission;
  const accounts = accountsOf(businesses, whatsappSender);
  const isNamed = whatsappSender.accountId !== null || whatsappSender.phoneId !== null;
  if (isNamed && accounts.length === 0) return noSender('The whatsapp number is not linked to the project');
  const name = content.smsType === 'whatsapp-template' ? content.templateName : whatsappSender.templateName;
  if (name !== null) {
    const found = approvedTemplate(accounts, name, whatsappSender.templateId);
    if (found === null) return noSender('The template does not exist, or is not approved');
    const number = sendingNumber(found.account, whatsappSender.phoneId, defaults.phoneNumberId);
    if (number === null) return noSender('The whatsapp account has no number');
    return send(submission, number.phoneNumberId, filledIn(submission, found.template));
  }
  const [account] = accounts;
  const number =
    isNamed && account !== undefined
      ? (sendingNumber(account, whatsappSender.phoneId, defaults.phoneNumberId)?.phoneNumberId ?? null)
      : defaults.phoneNumberId;
  if (number === null) return noSender('No whatsapp number to send from');
  if (content.smsType !== 'verification') return send(submission, number, { type: 'text' });
  const template = verificationTemplate(businesses, number, defaults);
  return send(
    submission,
    number,
    template === null
      ? { type: 'text' }
      : { type: 'template', template, parameters: codeParameters(template, content.verificationCode) },
  );
}

/** A text takes a template only when it can stand in it alone. */
function filledIn({ content }: Submission, template: WhatsappTemplate): Planned {
  switch (content.smsType) {
    case 'whatsapp-template':
      return { type: 'template', template, parameters: sentParameters(template, content.templateParameters) };
    case 'verification':
      return { type: 'template', template, parameters: codeParameters(template, content.verificationCode) };
    case 'custom': {
      const parameters = textParameters(template, content.customMessage);
      return parameters === null ? { type: 'text' } : { type: 'template', template, parameters };
    }
    default:
      return content satisfies never;
  }
}

/** The configured template when the number's account has it; that of the default number needs no linked account. */
function verificationTemplate(
  businesses: readonly WhatsappBusiness[],
  number: string,
  { phoneNumberId, verificationTemplate: configured }: SendingDefaults,
): WhatsappTemplate | null {
  if (configured === null) return null;
  const account = accountsIn(businesses).find(({ phoneNumbers }) =>
    phoneNumbers.some((each) => each.phoneNumberId === number),
  );
  const known = account?.templates.find(
    ({ name, language }) => name === configured.name && language === configured.language,
  );
  if (known !== undefined) return known;
  return number === phoneNumberId ? assumedTemplate(configured) : null;
}

/** Every template for codes has the same parameters: one in its body, and one in its button. */
function assumedTemplate({ name, language }: VerificationTemplate): WhatsappTemplate {
  return {
    id: '',
    name,
    language,
    category: 'AUTHENTICATION',
    parameter_format: 'POSITIONAL',
    status: 'APPROVED',
    reason: '',
    messageSendTtlSeconds: 0,
    isWhatsappFlow: false,
    createdAt: '',
    components: [],
  };
}

function noSender(reason: string): PlannedMessage {
  return { kind: 'no-sender', reason };
}

function send(submission: Submission, phoneNumberId: string, planned: Planned): PlannedMessage {
  const { phoneNumber, text } = submission;
  const content =
    planned.type === 'text'
      ? { type: 'text', text: { preview_url: false, body: text } }
      : { type: 'template', template: templateObject(planned.template, planned.parameters) };
  const body = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: phoneNumber,
    ...content,
    // Comes back with each status.
    biz_opaque_callback_data: attemptName(submission),
  };
  return { kind: 'send', phoneNumberId, body };
}

function templateObject(template: WhatsappTemplate, parameters: TemplateParameters) {
  const { header = {}, body = {}, buttons = {} } = parameters;
  const components = [
    ...headerOf(template, header),
    ...textsOf('body', template, body),
    ...Object.entries(buttons).flatMap(([index, values]) => buttonOf(template, index, values)),
  ];
  return {
    name: template.name,
    language: { code: template.language },
    ...(components.length === 0 ? {} : { components }),
  };
}

function headerOf(template: WhatsappTemplate, values: Values): readonly object[] {
  const header = template.components.find(({ type }) => type === 'HEADER');
  const media = MEDIA[header?.format ?? 'TEXT'];
  if (media === undefined) return textsOf('header', template, values);
  const link = values[media.key];
  if (link === undefined) return [];
  return [{ type: 'header', parameters: [{ type: media.type, [media.type]: { link: String(link) } }] }];
}

/** Meta takes numbered parameters in their order, which is the order of such keys in every object. */
function textsOf(type: 'header' | 'body', template: WhatsappTemplate, values: Values): readonly object[] {
  const isNamed = template.parameter_format === 'NAMED';
  const parameters = Object.entries(values).map(([key, value]) => ({
    type: 'text',
    ...(isNamed ? { parameter_name: key } : {}),
    text: String(value),
  }));
  return parameters.length === 0 ? [] : [{ type, parameters }];
}

/** Meta calls the copy button of a template for codes a `url` button too. */
function buttonOf(template: WhatsappTemplate, index: string, values: Values): readonly object[] {
  const texts = Object.values(values).map(String);
  if (texts.length === 0) return [];
  const isReply = buttonsOf(template)[Number(index)]?.type === 'QUICK_REPLY';
  return [
    {
      type: 'button',
      sub_type: isReply ? 'quick_reply' : 'url',
      index,
      parameters: texts.map((text) =>
        isReply ? { type: 'payload', payload: text } : { type: 'text', text },
      ),
    },
  ];
}

type Values = Readonly<Record<string, ParameterValue>>;

function buttonsOf({ components }: WhatsappTemplate): NonNullable<TemplateComponent['buttons']> {
  return components.flatMap(({ buttons = [] }) => buttons);
}

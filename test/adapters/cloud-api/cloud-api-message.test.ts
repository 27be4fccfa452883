import { expect, it, test } from 'vitest';
import { planMessage, type SendingDefaults } from '../../../src/adapters/cloud-api/cloud-api-message.ts';
import type { Submission } from '../../../src/application/ports/channel-provider.ts';
import type { WhatsappBusiness, WhatsappTemplate } from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import {
  aCode,
  aTemplateContent,
  aText,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
  NO_WHATSAPP_SENDER,
} from '../../support/builders.ts';
import { PLATFORM_PHONE_ID } from '../../support/cloud-api-peer.ts';
import { ACCOUNT_ID, aLinkedBusiness, aWhatsappSubmission, PHONE_ID } from '../../support/cloud-api-world.ts';

const DEFAULTS: SendingDefaults = { phoneNumberId: '900', verificationTemplate: null };
const OTP_TEMPLATE = { name: 'verify', language: 'ar' };

const AUTHENTICATION: WhatsappTemplate = aWhatsappTemplate({
  name: 'verify',
  category: 'AUTHENTICATION',
  language: 'ar',
  components: [
    { type: 'BODY', text: '*{{1}}* هو رمز التحقق الخاص بك.' },
    {
      type: 'BUTTONS',
      buttons: [{ type: 'URL', text: 'نسخ', url: 'https://www.whatsapp.com/otp/code/?code=otp{{1}}' }],
    },
  ],
});

/** What Meta is told beside the envelope, and from which number; or why nothing is sent. */
function planned(
  given: Partial<Submission>,
  templates: readonly WhatsappTemplate[] = [],
  defaults = DEFAULTS,
  businesses: readonly WhatsappBusiness[] = [aLinkedBusiness({ templates })],
) {
  const plan = planMessage(aWhatsappSubmission(given), businesses, defaults);
  if (plan.kind === 'no-sender') return plan.reason;
  const { messaging_product, recipient_type, to, biz_opaque_callback_data, ...content } = plan.body;
  expect({ messaging_product, recipient_type, to, biz_opaque_callback_data }).toEqual({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '9647712345678',
    biz_opaque_callback_data: 'sms-000000000000000000000001-0',
  });
  return { from: plan.phoneNumberId, ...content };
}

const named = (templateName: string | null, given: object = {}) => ({
  whatsappSender: { accountId: ACCOUNT_ID, phoneId: PHONE_ID, templateName, ...given },
});
const text = (body: string) => ({ type: 'text', text: { preview_url: false, body } });
const template = (name: string, code: string, components?: readonly object[]) => ({
  type: 'template',
  template: { name, language: { code }, ...(components === undefined ? {} : { components }) },
});
const textParameter = (value: string) => ({ type: 'text', text: value });
const codeComponents = (code: string) => [
  { type: 'body', parameters: [textParameter(code)] },
  { type: 'button', sub_type: 'url', index: '0', parameters: [textParameter(code)] },
];

test.each<[title: string, components: WhatsappTemplate['components'], parameters: object, expected: object]>([
  ['no parameters', [{ type: 'BODY', text: 'Hello' }], {}, []],
  [
    'two parameters of the body in their order',
    [{ type: 'BODY', text: '{{2}} and {{1}}' }],
    { body: { '2': 'b', '1': 'a' } },
    [{ type: 'body', parameters: [textParameter('a'), textParameter('b')] }],
  ],
  [
    'ten parameters by their numbers',
    [{ type: 'BODY', text: '{{1}} {{2}} {{10}}' }],
    { body: { '10': 'j', '2': 'b', '1': 7 } },
    [{ type: 'body', parameters: [textParameter('7'), textParameter('b'), textParameter('j')] }],
  ],
  [
    'a text in its header',
    [{ type: 'HEADER', format: 'TEXT', text: 'For {{1}}' }],
    { header: { '1': 'Layla' } },
    [{ type: 'header', parameters: [textParameter('Layla')] }],
  ],
  ...(['image', 'video', 'document'] as const).map(
    (type) =>
      [
        `its ${type} by link`,
        [{ type: 'HEADER', format: type.toUpperCase() }],
        { header: { [`${type}Url`]: 'https://example.com/a' } },
        [{ type: 'header', parameters: [{ type, [type]: { link: 'https://example.com/a' } }] }],
      ] as [string, WhatsappTemplate['components'], object, object],
  ),
  [
    'the end of the link of its second button',
    [
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Stop' },
          { type: 'URL', text: 'Track', url: 'https://example.com/{{1}}' },
        ],
      },
    ],
    { buttons: { '1': { '1': 'A-17' } } },
    [{ type: 'button', sub_type: 'url', index: '1', parameters: [textParameter('A-17')] }],
  ],
  [
    'the payload of a quick reply',
    [{ type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Stop {{1}}' }] }],
    { buttons: { '0': { '1': 'stop-17' } } },
    [
      {
        type: 'button',
        sub_type: 'quick_reply',
        index: '0',
        parameters: [{ type: 'payload', payload: 'stop-17' }],
      },
    ],
  ],
])('a template is sent with %s', (_, components, templateParameters, expected) => {
  const content = aTemplateContent({ templateParameters });
  const sent = expected as readonly object[];
  expect(planned({ content, ...named(null) }, [aWhatsappTemplate({ components })])).toEqual({
    from: PLATFORM_PHONE_ID,
    ...template('order_update', 'en', sent.length === 0 ? undefined : sent),
  });
});

it('a template with named parameters is sent with their names', () => {
  const templates = [
    aWhatsappTemplate({
      parameter_format: 'NAMED',
      components: [
        { type: 'HEADER', format: 'TEXT', text: '{{sale}}' },
        { type: 'BODY', text: '{{first_name}}: {{code}}' },
      ],
    }),
  ];
  const templateParameters = { header: { sale: 'Spring' }, body: { first_name: 'Layla', code: 'X1' } };
  expect(planned({ content: aTemplateContent({ templateParameters }), ...named(null) }, templates)).toEqual({
    from: PLATFORM_PHONE_ID,
    ...template('order_update', 'en', [
      { type: 'header', parameters: [{ type: 'text', parameter_name: 'sale', text: 'Spring' }] },
      {
        type: 'body',
        parameters: [
          { type: 'text', parameter_name: 'first_name', text: 'Layla' },
          { type: 'text', parameter_name: 'code', text: 'X1' },
        ],
      },
    ]),
  });
});

test.each<
  [title: string, given: Partial<Submission>, templates: readonly WhatsappTemplate[], reason: string]
>([
  [
    'the template is not approved any more',
    { content: aTemplateContent(), ...named(null) },
    [aWhatsappTemplate({ status: 'PAUSED' })],
    'The template does not exist, or is not approved',
  ],
  [
    'the template of a campaign is not approved any more, but another language of its name is',
    { content: aTemplateContent(), ...named('order_update', { templateId: 'arabic' }) },
    [aWhatsappTemplate(), aWhatsappTemplate({ id: 'arabic', language: 'ar', status: 'PAUSED' })],
    'The template does not exist, or is not approved',
  ],
  [
    'the template of a code is gone',
    { content: aCode(), ...named('verify') },
    [],
    'The template does not exist, or is not approved',
  ],
  [
    'the number is not linked',
    { content: aCode(), ...named(null, { phoneId: '664def0000000000000000ff' }) },
    [],
    'The whatsapp number is not linked to the project',
  ],
  [
    'the account is not linked',
    { content: aTemplateContent(), ...named(null, { accountId: '664def0000000000000000ff' }) },
    [aWhatsappTemplate()],
    'The whatsapp number is not linked to the project',
  ],
])('nothing is sent when %s', (_, given, templates, reason) => {
  expect(planned(given, templates)).toBe(reason);
});

it('nothing is sent from an account without numbers, nor without any number', () => {
  const businesses = [aLinkedBusiness({ phoneNumbers: [], templates: [aWhatsappTemplate()] })];
  const content = aTemplateContent();
  const sender = { whatsappSender: { ...NO_WHATSAPP_SENDER, accountId: ACCOUNT_ID } };
  expect(planned({ content, ...sender }, [], DEFAULTS, businesses)).toBe(
    'The whatsapp account has no number',
  );
  expect(planned({ content: aCode() }, [], { ...DEFAULTS, phoneNumberId: null })).toBe(
    'No whatsapp number to send from',
  );
});

test.each<[title: string, template: WhatsappTemplate, expected: object]>([
  [
    'the template for codes that the caller names',
    AUTHENTICATION,
    template('verify', 'ar', codeComponents('4821')),
  ],
  [
    'another template that the caller names',
    aWhatsappTemplate({ name: 'verify', components: [{ type: 'BODY', text: '{{1}}' }] }),
    template('verify', 'en', codeComponents('4821').slice(0, 1)),
  ],
])('a code is sent with %s', (_, given, expected) => {
  expect(planned({ content: aCode('4821'), ...named('verify') }, [given])).toEqual({
    from: PLATFORM_PHONE_ID,
    ...expected,
  });
});

it('a template for codes that a caller fills in is sent with the code in its button too', () => {
  const components = [
    { type: 'BODY', text: '{{1}}' },
    { type: 'BUTTONS', buttons: [{ type: 'OTP' }] },
  ];
  const content = aTemplateContent({ templateName: 'verify', templateParameters: { body: { '1': '4821' } } });
  expect(planned({ content, ...named(null) }, [{ ...AUTHENTICATION, components }])).toEqual({
    from: PLATFORM_PHONE_ID,
    ...template('verify', 'ar', codeComponents('4821')),
  });
});

it('a code with a template but no number is sent from the account that has the template', () => {
  const whatsappSender = { ...NO_WHATSAPP_SENDER, templateName: 'verify' };
  const businesses = [
    aWhatsappBusiness({ whatsappAccounts: [aWhatsappAccount({ id: 'other', templates: [] })] }),
    aLinkedBusiness({ templates: [AUTHENTICATION] }),
  ];
  expect(planned({ content: aCode('4821'), whatsappSender }, [], DEFAULTS, businesses)).toEqual({
    from: PLATFORM_PHONE_ID,
    ...template('verify', 'ar', codeComponents('4821')),
  });
});

const WITH_TEMPLATE: SendingDefaults = { ...DEFAULTS, verificationTemplate: OTP_TEMPLATE };

test.each<
  [title: string, given: Partial<Submission>, templates: readonly WhatsappTemplate[], expected: object]
>([
  [
    'the configured template from the default number',
    {},
    [],
    { from: '900', ...template('verify', 'ar', codeComponents('123456')) },
  ],
  [
    'the configured template from a number whose account has it',
    named(null),
    [aWhatsappTemplate({ name: 'verify' }), AUTHENTICATION],
    { from: PLATFORM_PHONE_ID, ...template('verify', 'ar', codeComponents('123456')) },
  ],
  [
    'a text from a number whose account has another language of it',
    named(null),
    [aWhatsappTemplate({ name: 'verify' })],
    { from: PLATFORM_PHONE_ID, ...text('Your verification code is 123456') },
  ],
])('a code without a template is sent with %s', (_, given, templates, expected) => {
  expect(planned({ content: aCode(), ...given }, templates, WITH_TEMPLATE)).toEqual(expected);
});

it('the configured template is sent as its account has it, when the default number is linked', () => {
  const named = aWhatsappTemplate({
    name: 'verify',
    language: 'ar',
    parameter_format: 'NAMED',
    components: [{ type: 'BODY', text: '{{code}}' }],
  });
  const defaults = { phoneNumberId: PLATFORM_PHONE_ID, verificationTemplate: OTP_TEMPLATE };
  expect(planned({ content: aCode() }, [named], defaults)).toEqual({
    from: PLATFORM_PHONE_ID,
    ...template('verify', 'ar', [
      { type: 'body', parameters: [{ type: 'text', parameter_name: 'code', text: '123456' }] },
    ]),
  });
});

test.each<[title: string, given: Partial<Submission>]>([
  ['a code without any template', { content: aCode() }],
  ['a text without a template', { content: aText() }],
])('%s is sent as a text from the default number', (_, given) => {
  expect(planned({ ...given, text: 'Hello' })).toEqual({ from: '900', ...text('Hello') });
});

test.each<[title: string, body: string, expected: object]>([
  [
    'in the template, when it has one parameter',
    'Hello: {{1}}',
    template('order_update', 'en', [
      { type: 'body', parameters: [textParameter('Your parcel has arrived')] },
    ]),
  ],
  ['as a text, when the template has two', '{{1}} {{2}}', text('Your parcel has arrived')],
])('a text with a named template is sent %s', (_, body, expected) => {
  const templates = [aWhatsappTemplate({ components: [{ type: 'BODY', text: body }] })];
  const given = { content: aText(), text: 'Your parcel has arrived', ...named('order_update') };
  expect(planned(given, templates)).toEqual({ from: PLATFORM_PHONE_ID, ...expected });
});

it('a number that is named by its account only is the connected one', () => {
  const phoneNumbers = [
    aWhatsappPhoneNumber({ id: 'one', phoneNumberId: '1', status: 'PENDING' }),
    aWhatsappPhoneNumber({ id: 'two', phoneNumberId: '2' }),
  ];
  const whatsappSender = { ...NO_WHATSAPP_SENDER, accountId: ACCOUNT_ID };
  const businesses = [aLinkedBusiness({ phoneNumbers })];
  expect(planned({ content: aText(), text: 'Hi', whatsappSender }, [], DEFAULTS, businesses)).toEqual({
    from: '2',
    ...text('Hi'),
  });
});

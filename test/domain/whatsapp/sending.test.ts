import { expect, it, test } from 'vitest';
import {
  accountsOf,
  approvedTemplate,
  codeParameters,
  sendingNumber,
  sentParameters,
  textParameters,
} from '../../../src/domain/whatsapp/sending.ts';
import type { TemplateComponent } from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import {
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
} from '../../support/builders.ts';

const first = aWhatsappAccount({ id: 'first', phoneNumbers: [aWhatsappPhoneNumber({ id: 'one' })] });
const second = aWhatsappAccount({
  id: 'second',
  phoneNumbers: [aWhatsappPhoneNumber({ id: 'two' }), aWhatsappPhoneNumber({ id: 'three' })],
});
const businesses = [
  aWhatsappBusiness({ whatsappAccounts: [first] }),
  aWhatsappBusiness({ whatsappAccounts: [second] }),
];

test.each<[accountId: string | null, phoneId: string | null, ids: readonly string[]]>([
  [null, null, ['first', 'second']],
  ['second', null, ['second']],
  [null, 'one', ['first']],
  ['second', 'two', ['second']],
  [null, 'three', ['second']],
  ['second', 'one', []],
  ['third', null, []],
])('a message with account %s and number %s may be sent from the accounts %j', (accountId, phoneId, ids) => {
  expect(accountsOf(businesses, { accountId, phoneId }).map(({ id }) => id)).toEqual(ids);
});

it('a template can be sent when it is approved, in the first account and language that has it', () => {
  const pending = aWhatsappTemplate({ status: 'PENDING', language: 'en' });
  const approved = aWhatsappTemplate({ language: 'ar' });
  const later = aWhatsappTemplate({ language: 'ckb' });
  const accounts = [
    { ...first, templates: [aWhatsappTemplate({ name: 'other' }), pending] },
    { ...second, templates: [approved, later] },
  ];
  expect(approvedTemplate(accounts, 'order_update')).toEqual({ account: accounts[1], template: approved });
  expect(approvedTemplate(accounts.slice(0, 1), 'order_update')).toBeNull();
});

test.each<[title: string, status: string, templates: readonly string[], found: string | null]>([
  ['can be sent when it is approved', 'APPROVED', ['en', 'ar'], 'ar'],
  [
    'cannot be sent when it is not approved, whatever other languages its name has',
    'PAUSED',
    ['en', 'ar'],
    null,
  ],
  ['cannot be sent when it is gone, whatever other languages its name has', 'APPROVED', ['en'], null],
])('a template that is named by its id %s', (_, status, languages, found) => {
  const all = [
    aWhatsappTemplate({ id: 'english', language: 'en' }),
    aWhatsappTemplate({ id: 'arabic', language: 'ar', status }),
  ];
  const templates = all.filter(({ language }) => languages.includes(language));
  const sendable = approvedTemplate([{ ...first, templates }], 'order_update', 'arabic');
  expect(sendable?.template.language ?? null).toBe(found);
});

test.each<[title: string, phoneId: string | null, preferred: string | null, expected: string | null]>([
  ['the number that was named', 'one', '2', 'one'],
  ['no number when another one was named', 'four', '2', null],
  ['the preferred number', null, '3', 'three'],
  ['the preferred number that is not connected', null, '1', 'one'],
  ['the first connected number when the preferred one is elsewhere', null, '9', 'two'],
  ['the first connected number when none is preferred', null, null, 'two'],
])('an account sends from %s', (_, phoneId, preferred, expected) => {
  const account = aWhatsappAccount({
    phoneNumbers: [
      aWhatsappPhoneNumber({ id: 'one', phoneNumberId: '1', status: 'PENDING' }),
      aWhatsappPhoneNumber({ id: 'two', phoneNumberId: '2', status: 'CONNECTED' }),
      aWhatsappPhoneNumber({ id: 'three', phoneNumberId: '3', status: 'CONNECTED' }),
    ],
  });
  expect(sendingNumber(account, phoneId, preferred)?.id ?? null).toBe(expected);
});

it('an account sends from its first number when none is connected, and from none when it has none', () => {
  const number = aWhatsappPhoneNumber({ status: 'PENDING' });
  expect(sendingNumber(aWhatsappAccount({ phoneNumbers: [number] }), null, null)).toEqual(number);
  expect(sendingNumber(aWhatsappAccount({ phoneNumbers: [] }), null, null)).toBeNull();
});

const BODY: TemplateComponent = { type: 'BODY', text: '*{{1}}* is your code' };
const COPY_BUTTON = {
  type: 'URL',
  text: 'Copy code',
  url: 'https://www.whatsapp.com/otp/code/?code=otp{{1}}',
};

test.each<[title: string, category: string, components: readonly TemplateComponent[], expected: object]>([
  [
    'the body and the copy button',
    'AUTHENTICATION',
    [BODY, { type: 'BUTTONS', buttons: [COPY_BUTTON] }],
    { body: { '1': '4821' }, buttons: { '0': { '1': '4821' } } },
  ],
  [
    'a button that is described as it was created',
    'AUTHENTICATION',
    [BODY, { type: 'BUTTONS', buttons: [{ type: 'PHONE_NUMBER', text: 'Call' }, { type: 'OTP' }] }],
    { body: { '1': '4821' }, buttons: { '1': { '1': '4821' } } },
  ],
  [
    'the first button when the components are not known',
    'AUTHENTICATION',
    [],
    { body: { '1': '4821' }, buttons: { '0': { '1': '4821' } } },
  ],
  [
    'the body only',
    'UTILITY',
    [BODY, { type: 'BUTTONS', buttons: [COPY_BUTTON] }],
    { body: { '1': '4821' } },
  ],
  ['a named placeholder', 'UTILITY', [{ type: 'BODY', text: '{{code}}' }], { body: { code: '4821' } }],
  [
    'the body behind a header with a placeholder',
    'UTILITY',
    [
      { type: 'HEADER', text: '{{name}}' },
      { type: 'BODY', text: '{{code}}' },
    ],
    { body: { code: '4821' } },
  ],
])('a code fills %s of a template', (_, category, components, expected) => {
  expect(codeParameters(aWhatsappTemplate({ category, components }), '4821')).toEqual(expected);
});

test.each<[title: string, components: readonly TemplateComponent[], expected: object | null]>([
  ['its only parameter', [{ type: 'BODY', text: 'Hello: {{1}}' }], { body: { '1': 'Hi' } }],
  ['its only named parameter', [{ type: 'BODY', text: '{{text}}' }], { body: { text: 'Hi' } }],
  ['nothing without a parameter', [{ type: 'BODY', text: 'Hello' }], null],
  ['nothing with two parameters', [{ type: 'BODY', text: '{{1}} {{2}}' }], null],
  ['nothing with a header to fill in', [{ type: 'HEADER', format: 'IMAGE' }, BODY], null],
  ['nothing with a parameter of its header only', [{ type: 'HEADER', text: '{{1}}' }], null],
])('a text fills %s of a template', (_, components, expected) => {
  expect(textParameters(aWhatsappTemplate({ components }), 'Hi')).toEqual(expected);
});

test.each<[title: string, category: string, given: object, expected: object]>([
  [
    'gets the code of the body',
    'AUTHENTICATION',
    { body: { '1': 4821 } },
    { body: { '1': 4821 }, buttons: { '0': { '1': '4821' } } },
  ],
  [
    'keeps what the caller gave it',
    'AUTHENTICATION',
    { body: { '1': '4821' }, buttons: { '0': { '1': '7' } } },
    { body: { '1': '4821' }, buttons: { '0': { '1': '7' } } },
  ],
  [
    'gets the code beside parts that the caller left empty',
    'AUTHENTICATION',
    { header: {}, body: { '1': '4821' }, buttons: {} },
    { header: {}, body: { '1': '4821' }, buttons: { '0': { '1': '4821' } } },
  ],
  [
    'gets the code when the caller gave it no parameter',
    'AUTHENTICATION',
    { body: { '1': '4821' }, buttons: { '0': {} } },
    { body: { '1': '4821' }, buttons: { '0': { '1': '4821' } } },
  ],
  [
    'gets the code beside another button of the caller',
    'AUTHENTICATION',
    { body: { '1': '4821' }, buttons: { '1': { '1': 'shop' } } },
    { body: { '1': '4821' }, buttons: { '0': { '1': '4821' }, '1': { '1': 'shop' } } },
  ],
  ['gets nothing without a code', 'AUTHENTICATION', {}, {}],
  ['gets nothing when it is for no code', 'UTILITY', { body: { '1': 'Layla' } }, { body: { '1': 'Layla' } }],
])('the button of a template %s', (_, category, given, expected) => {
  const components = [BODY, { type: 'BUTTONS', buttons: [{ type: 'OTP' }] }];
  expect(sentParameters(aWhatsappTemplate({ category, components }), given)).toEqual(expected);
});

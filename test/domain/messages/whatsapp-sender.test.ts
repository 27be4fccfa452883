import { describe, expect, it, test } from 'vitest';
import type { SendRequest, WhatsappSender } from '../../../src/domain/messages/send-request.ts';
import { decideWhatsappSender } from '../../../src/domain/messages/whatsapp-sender.ts';
import {
  aSendRequest,
  aTemplateContent,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
  NO_WHATSAPP_SENDER,
} from '../../support/builders.ts';

const TREE = [
  aWhatsappBusiness({
    whatsappAccounts: [
      aWhatsappAccount({
        id: 'a1',
        phoneNumbers: [aWhatsappPhoneNumber({ id: 'p1' }), aWhatsappPhoneNumber({ id: 'p1b' })],
        templates: [
          aWhatsappTemplate({ name: 'order_update', category: 'MARKETING' }),
          aWhatsappTemplate({ name: 'draft', status: 'PENDING' }),
          aWhatsappTemplate({ name: 'two_languages', language: 'ar', status: 'REJECTED' }),
          aWhatsappTemplate({ name: 'two_languages', language: 'en', category: 'UTILITY' }),
        ],
      }),
      aWhatsappAccount({ id: 'a2', phoneNumbers: [aWhatsappPhoneNumber({ id: 'p2' })], templates: [] }),
    ],
  }),
];

const sender = (accountId: string | null, phoneId: string | null): WhatsappSender => ({
  accountId,
  phoneId,
  templateName: null,
});

describe('a code or a text', () => {
  test.each<[string, WhatsappSender, string]>([
    ['no sender', NO_WHATSAPP_SENDER, 'usable'],
    ['an account', sender('a1', null), 'usable'],
    ['a number alone', sender(null, 'p2'), 'usable'],
    ['an account and its first number', sender('a1', 'p1'), 'usable'],
    ['an account and its second number', sender('a1', 'p1b'), 'usable'],
    ['an unknown account', sender('a3', null), 'whatsapp-account-not-found'],
    ['an unknown account before an unknown number', sender('a3', 'p9'), 'whatsapp-account-not-found'],
    ['an unknown number', sender(null, 'p9'), 'whatsapp-phone-not-found'],
    ['a number of another account', sender('a1', 'p2'), 'whatsapp-phone-not-found'],
    ['a template of the account', { ...sender('a1', null), templateName: 'order_update' }, 'usable'],
    ['a template nobody knows', { ...sender('a1', null), templateName: 'nothing' }, 'template-not-found'],
    ['a template of another account', { ...sender('a2', null), templateName: 'draft' }, 'template-not-found'],
    ['an unapproved template', { ...sender('a1', null), templateName: 'draft' }, 'template-not-approved'],
    ['a template of any account', { ...sender(null, null), templateName: 'order_update' }, 'usable'],
    [
      'a template and a number of its account',
      { ...sender(null, 'p1'), templateName: 'order_update' },
      'usable',
    ],
    [
      'a template of another account than the number',
      { ...sender(null, 'p2'), templateName: 'order_update' },
      'template-not-found',
    ],
    ['a template no account has', { ...sender(null, null), templateName: 'nothing' }, 'template-not-found'],
    ['a draft of any account', { ...sender(null, null), templateName: 'draft' }, 'template-not-approved'],
  ])('a code or text is checked as far as it names whatsapp resources: %s', (_, whatsappSender, kind) => {
    expect(decideWhatsappSender(aSendRequest({ whatsappSender }), TREE).kind).toBe(kind);
  });

  it('says where a number that is not found had to be', () => {
    const rejectionOf = (accountId: string | null, phoneId: string) =>
      decideWhatsappSender(aSendRequest({ whatsappSender: sender(accountId, phoneId) }), TREE);
    expect(rejectionOf(null, 'p9')).toEqual({ kind: 'whatsapp-phone-not-found', within: 'project' });
    expect(rejectionOf('a1', 'p2')).toEqual({ kind: 'whatsapp-phone-not-found', within: 'account' });
  });

  it('a code has no whatsapp category of its own', () => {
    expect(decideWhatsappSender(aSendRequest(), [])).toEqual({ kind: 'usable', category: null });
  });
});

it('a text that names a template is priced as a text', () => {
  const whatsappSender = { ...sender('a1', null), templateName: 'order_update' };
  expect(decideWhatsappSender(aSendRequest({ whatsappSender }), TREE)).toEqual({
    kind: 'usable',
    category: null,
  });
});

describe('a template', () => {
  const request = (
    templateName: string,
    templateParameters: Extract<
      SendRequest['content'],
      { smsType: 'whatsapp-template' }
    >['templateParameters'] = {
      body: { '1': 'x' },
    },
    whatsappSender = sender('a1', 'p1'),
  ) => aSendRequest({ content: aTemplateContent({ templateName, templateParameters }), whatsappSender });

  it('a template is priced by its own category', () => {
    expect(decideWhatsappSender(request('order_update'), TREE)).toEqual({
      kind: 'usable',
      category: 'MARKETING',
    });
  });

  it('a template is usable when it is approved in one language', () => {
    expect(decideWhatsappSender(request('two_languages'), TREE)).toEqual({
      kind: 'usable',
      category: 'UTILITY',
    });
  });

  it('a template is not found when the account has none of its name', () => {
    expect(decideWhatsappSender(request('nothing'), TREE)).toEqual({ kind: 'template-not-found' });
    expect(decideWhatsappSender(request('order_update', {}, sender('a2', 'p2')), TREE)).toEqual({
      kind: 'template-not-found',
    });
    expect(decideWhatsappSender(request('order_update', {}, NO_WHATSAPP_SENDER), TREE)).toEqual({
      kind: 'template-not-found',
    });
  });

  it('a template is rejected until it is approved, whatever its parameters', () => {
    expect(decideWhatsappSender(request('draft', {}), TREE)).toEqual({ kind: 'template-not-approved' });
  });

  it('a template is rejected without a parameter, which the rejection names', () => {
    expect(decideWhatsappSender(request('order_update', {}), TREE)).toEqual({
      kind: 'template-parameter-missing',
      path: 'templateParameters.body.1',
    });
  });

  it('a template is rejected with a parameter it does not have, which the rejection names', () => {
    expect(decideWhatsappSender(request('order_update', { body: { '1': 'x', '2': 'y' } }), TREE)).toEqual({
      kind: 'template-parameter-unknown',
      path: 'templateParameters.body.2',
    });
  });
});

import { describe, expect, it } from 'vitest';
import { decideSender, findSender, senderRejections } from '../../../src/domain/campaigns/campaign-sender.ts';
import {
  anId,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
} from '../../support/builders.ts';

const template = aWhatsappTemplate();
const phoneNumber = aWhatsappPhoneNumber();
const pending = aWhatsappTemplate({ id: anId(1), status: 'PENDING' });
const offer = aWhatsappTemplate({ id: anId(2), category: 'MARKETING' });
const code = aWhatsappTemplate({ id: anId(3), category: 'AUTHENTICATION' });
const account = aWhatsappAccount({
  phoneNumbers: [aWhatsappPhoneNumber({ id: anId(8) }), phoneNumber],
  templates: [offer, template, pending, code],
});
const foreignTemplate = aWhatsappTemplate({ id: anId(4) });
const foreignNumber = aWhatsappPhoneNumber({ id: anId(9) });
const BUSINESSES = [
  aWhatsappBusiness({ id: anId(20), whatsappAccounts: [] }),
  aWhatsappBusiness({
    whatsappAccounts: [
      aWhatsappAccount({ id: anId(10), phoneNumbers: [foreignNumber], templates: [foreignTemplate] }),
      account,
    ],
  }),
];
const ids = (templateId = template.id, whatsappPhoneId = phoneNumber.id) => ({ templateId, whatsappPhoneId });

describe('the sender of a campaign', () => {
  it('a sender is the template and the number of one account', () => {
    const sender = { kind: 'sender', account, phoneNumber, template, category: 'UTILITY' };
    expect(findSender(BUSINESSES, ids())).toEqual(sender);
    expect(decideSender(BUSINESSES, ids())).toEqual(sender);
    expect(findSender(BUSINESSES, ids(offer.id))).toMatchObject({ template: offer, category: 'MARKETING' });
  });

  it.each([
    ['an unknown template', ids(anId(99)), 'campaign-template-not-found'],
    ['an unknown number', ids(template.id, anId(99)), 'campaign-phone-not-found'],
    ['a template of another account', ids(foreignTemplate.id), 'campaign-accounts-differ'],
    ['a number of another account', ids(template.id, foreignNumber.id), 'campaign-accounts-differ'],
    ['a template for codes', ids(code.id), 'campaign-category'],
  ])('%s is rejected with its reason', (_, given, kind) => {
    expect(findSender(BUSINESSES, given)).toEqual({ kind });
    expect(decideSender(BUSINESSES, given)).toEqual({ kind });
  });

  it('a template that is not approved may be planned with, and not sent', () => {
    expect(findSender(BUSINESSES, ids(pending.id))).toMatchObject({ kind: 'sender', template: pending });
    expect(decideSender(BUSINESSES, ids(pending.id))).toEqual({ kind: 'template-not-approved' });
  });

  it('everything that keeps a template from being sent from a number is named', () => {
    const named = (given: ReturnType<typeof ids>) =>
      senderRejections(BUSINESSES, given).map(({ kind }) => kind);
    expect(named(ids())).toEqual([]);
    expect(named(ids(anId(99), anId(98)))).toEqual([
      'campaign-template-not-found',
      'campaign-phone-not-found',
    ]);
    expect(named(ids(pending.id, anId(98)))).toEqual(['campaign-phone-not-found', 'template-not-approved']);
    expect(named(ids(code.id, foreignNumber.id))).toEqual(['campaign-accounts-differ', 'campaign-category']);
  });

  it('a sender that may be planned with has no rejection but that of a template that is not approved', () => {
    const templateIds = [template, pending, code, foreignTemplate].map(({ id }) => id);
    for (const templateId of [...templateIds, anId(99)]) {
      for (const whatsappPhoneId of [phoneNumber.id, foreignNumber.id, anId(98)]) {
        const given = ids(templateId, whatsappPhoneId);
        const rejections = senderRejections(BUSINESSES, given);
        const [first] = rejections.filter(({ kind }) => kind !== 'template-not-approved');
        expect(findSender(BUSINESSES, given)).toMatchObject(first ?? { kind: 'sender' });
      }
    }
  });
});

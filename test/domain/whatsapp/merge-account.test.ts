import { expect, it, test } from 'vitest';
import { mergeAccount, newIdsNeeded, withoutNewRows } from '../../../src/domain/whatsapp/merge-account.ts';
import {
  aPlatformAccount,
  aPlatformPhoneNumber,
  aPlatformTemplate,
  aWhatsappAccount,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
} from '../../support/builders.ts';

const CREATED_AT = '2026-01-15T12:00:00.000Z';
const NEW = { ids: ['new-1', 'new-2', 'new-3', 'new-4'], createdAt: CREATED_AT };

const stored = aWhatsappAccount({
  phoneNumbers: [aWhatsappPhoneNumber({ phoneNumber: '+9647700000001' })],
});

it('an account that the platform describes as it is stored does not change', () => {
  expect(mergeAccount(stored, aPlatformAccount(), NEW)).toEqual(stored);
});

it('a known number and a known template take what the platform says, and keep our ids and their creation', () => {
  const platform = aPlatformAccount({
    phoneNumbers: [
      aPlatformPhoneNumber({
        displayPhoneNumber: '+964 770 000-0009',
        verifiedName: 'New name',
        qualityRating: 'RED',
        messagingLimit: 'TIER_250',
        status: 'FLAGGED',
        codeVerificationStatus: 'EXPIRED',
        nameStatus: 'DECLINED',
        isOfficialBusinessAccount: true,
      }),
    ],
    templates: [
      aPlatformTemplate({
        category: 'MARKETING',
        parameterFormat: 'NAMED',
        status: 'REJECTED',
        reason: 'INVALID_FORMAT',
        messageSendTtlSeconds: 300,
        components: [{ type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Open' }] }],
      }),
    ],
  });
  expect(mergeAccount(stored, platform, NEW)).toEqual({
    ...stored,
    phoneNumbers: [
      aWhatsappPhoneNumber({
        displayPhoneNumber: '+964 770 000-0009',
        phoneNumber: '+9647700000009',
        verifiedName: 'New name',
        qualityRating: 'RED',
        messagingLimit: 'TIER_250',
        status: 'FLAGGED',
        codeVerificationStatus: 'EXPIRED',
        nameStatus: 'DECLINED',
        isOfficialBusinessAccount: true,
      }),
    ],
    templates: [
      aWhatsappTemplate({
        category: 'MARKETING',
        parameter_format: 'NAMED',
        status: 'REJECTED',
        reason: 'INVALID_FORMAT',
        messageSendTtlSeconds: 300,
        isWhatsappFlow: true,
        components: [{ type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Open' }] }],
      }),
    ],
  });
});

it('what the platform does not say stays as it was', () => {
  const silent = aPlatformPhoneNumber({
    verifiedName: null,
    qualityRating: null,
    messagingLimit: null,
    status: null,
    codeVerificationStatus: null,
    nameStatus: null,
    isOfficialBusinessAccount: null,
  });
  const before = aWhatsappAccount({
    phoneNumbers: [aWhatsappPhoneNumber({ phoneNumber: '+9647700000001', isOfficialBusinessAccount: true })],
    templates: [aWhatsappTemplate({ parameter_format: 'NAMED', messageSendTtlSeconds: 600 })],
  });
  const platform = aPlatformAccount({
    phoneNumbers: [silent],
    templates: [aPlatformTemplate({ parameterFormat: null })],
  });
  expect(mergeAccount(before, platform, NEW)).toEqual(before);
});

it('a new number of which the platform says nothing is stored with empty texts', () => {
  const silent = {
    phoneNumberId: '2',
    displayPhoneNumber: '+964 770 000 0002',
    verifiedName: null,
    qualityRating: null,
    messagingLimit: null,
    status: null,
    codeVerificationStatus: null,
    nameStatus: null,
    isOfficialBusinessAccount: null,
  };
  const empty = aWhatsappAccount({ phoneNumbers: [], templates: [] });
  expect(mergeAccount(empty, { phoneNumbers: [silent], templates: [] }, NEW).phoneNumbers).toEqual([
    {
      id: 'new-1',
      phoneNumberId: '2',
      displayPhoneNumber: '+964 770 000 0002',
      phoneNumber: '+9647700000002',
      verifiedName: '',
      qualityRating: '',
      messagingLimit: '',
      status: '',
      codeVerificationStatus: '',
      nameStatus: '',
      isOfficialBusinessAccount: false,
      createdAt: CREATED_AT,
    },
  ]);
});

test.each([
  ['with a button of a flow behind its body', ['URL', 'FLOW'], true],
  ['with other buttons only', ['URL', 'PHONE_NUMBER'], false],
])('a template %s is of a flow: %j', (_, types, isWhatsappFlow) => {
  const components = [
    { type: 'BODY', text: 'Hello' },
    { type: 'BUTTONS', buttons: types.map((type) => ({ type, text: 'Open' })) },
  ];
  const platform = aPlatformAccount({ templates: [aPlatformTemplate({ components })] });
  expect(mergeAccount(stored, platform, NEW).templates).toMatchObject([{ isWhatsappFlow }]);
});

it('without new rows an account has the known numbers and templates of the platform only', () => {
  const known = aPlatformAccount();
  const platform = aPlatformAccount({
    phoneNumbers: [aPlatformPhoneNumber({ phoneNumberId: '2' }), ...known.phoneNumbers],
    templates: [
      aPlatformTemplate({ language: 'ar' }),
      ...known.templates,
      aPlatformTemplate({ name: 'other' }),
    ],
  });
  expect(withoutNewRows(stored, platform)).toEqual(known);
  expect(withoutNewRows(stored, { phoneNumbers: [], templates: [] })).toEqual({
    phoneNumbers: [],
    templates: [],
  });
});

it('new numbers and templates come behind the known ones with new ids', () => {
  const platform = aPlatformAccount({
    phoneNumbers: [
      aPlatformPhoneNumber({ phoneNumberId: '2', verifiedName: null, status: null }),
      aPlatformPhoneNumber(),
    ],
    templates: [
      aPlatformTemplate({ language: 'ar' }),
      aPlatformTemplate(),
      aPlatformTemplate({ name: 'other', parameterFormat: null }),
    ],
  });
  const { phoneNumbers, templates } = mergeAccount(stored, platform, NEW);
  expect(phoneNumbers.map(({ id, phoneNumberId }) => [id, phoneNumberId])).toEqual([
    [aWhatsappPhoneNumber().id, aWhatsappPhoneNumber().phoneNumberId],
    ['new-1', '2'],
  ]);
  expect(phoneNumbers[1]).toMatchObject({ verifiedName: '', status: '', createdAt: CREATED_AT });
  expect(templates.map(({ id, name, language }) => [id, name, language])).toEqual([
    [aWhatsappTemplate().id, 'order_update', 'en'],
    ['new-2', 'order_update', 'ar'],
    ['new-3', 'other', 'en'],
  ]);
  expect(templates[2]).toMatchObject({
    parameter_format: 'POSITIONAL',
    messageSendTtlSeconds: 0,
    createdAt: CREATED_AT,
  });
});

it('what the platform does not have any more stays, and is deleted', () => {
  const gone = mergeAccount(stored, { phoneNumbers: [], templates: [] }, NEW);
  expect(gone).toEqual({
    ...stored,
    phoneNumbers: [{ ...stored.phoneNumbers[0], status: 'DELETED' }],
    templates: [{ ...stored.templates[0], status: 'DELETED' }],
  });
});

it('of the templates that the platform does not have any more the last 1,000 stay, and all that it has', () => {
  const many = Array.from({ length: 1_003 }, (_, index) =>
    aWhatsappTemplate({ id: `${index}`, name: `template-${index}` }),
  );
  const platform = aPlatformAccount({ templates: [aPlatformTemplate({ name: 'template-1' })] });
  const { templates } = mergeAccount(aWhatsappAccount({ templates: many }), platform, NEW);
  expect(templates.slice(0, 3).map(({ id, status }) => [id, status === 'DELETED'])).toEqual([
    ['1', false],
    ['3', true],
    ['4', true],
  ]);
  expect(templates).toHaveLength(1_001);
});

test.each<[says: string | null, status: string]>([
  ['CONNECTED', 'CONNECTED'],
  [null, ''],
])('a number that is there again with the status %s is not deleted', (says, status) => {
  const gone = mergeAccount(stored, { phoneNumbers: [], templates: [] }, NEW);
  const back = mergeAccount(
    gone,
    aPlatformAccount({ phoneNumbers: [aPlatformPhoneNumber({ status: says })] }),
    NEW,
  );
  expect(back.phoneNumbers.map((each) => [each.id, each.status])).toEqual([
    [aWhatsappPhoneNumber().id, status],
  ]);
  expect(back.templates).toEqual(stored.templates);
});

it('a row that the platform gives twice is one row', () => {
  const platform = aPlatformAccount({
    templates: [aPlatformTemplate({ name: 'twice' }), aPlatformTemplate({ name: 'twice' })],
  });
  const { templates } = mergeAccount(stored, platform, NEW);
  expect(templates.map(({ name, status }) => [name, status])).toEqual([
    ['order_update', 'DELETED'],
    ['twice', 'APPROVED'],
  ]);
});

it('a merge takes an id for each new row at the most, and throws when there are too few', () => {
  const platform = aPlatformAccount({ phoneNumbers: [aPlatformPhoneNumber({ phoneNumberId: '2' })] });
  expect(newIdsNeeded(platform)).toBe(2);
  expect(() => mergeAccount(stored, platform, { ids: [], createdAt: CREATED_AT })).toThrow('too few ids');
});

it('of the templates that the platform has no more, the last are kept that have a million characters together', () => {
  const texts = 'x'.repeat(400_000);
  const templates = ['first', 'second', 'third'].map((name) =>
    aWhatsappTemplate({ name, components: [{ type: 'BODY', text: texts }] }),
  );
  const merged = mergeAccount({ ...stored, templates }, aPlatformAccount({ templates: [] }), NEW);
  expect(merged.templates.map(({ name, status }) => [name, status])).toEqual([
    ['second', 'DELETED'],
    ['third', 'DELETED'],
  ]);
});

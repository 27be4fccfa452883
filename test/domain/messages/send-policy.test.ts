import { describe, expect, it, test } from 'vitest';
import { decideSend, type SendState } from '../../../src/domain/messages/send-policy.ts';
import type { Content, SendRequest } from '../../../src/domain/messages/send-request.ts';
import { iqd, money, ZERO } from '../../../src/domain/shared/money.ts';
import {
  aCode,
  anAccount,
  aPhoneNumber,
  aProject,
  aSenderId,
  aSendRequest,
  aSendState,
  aTemplateRequest,
  aText,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappTemplate,
  MINUTE_MS,
  NOW,
} from '../../support/builders.ts';

describe('an accepted send', () => {
  it('an accepted send holds the highest price of its channels and has the price of each', () => {
    const account = anAccount({ balance: iqd(1_000), held: iqd(100), spent: iqd(5) });
    expect(decideSend(aSendState({ account }), aSendRequest(), NOW)).toEqual({
      kind: 'accepted',
      account: { ...account, held: iqd(180) },
      channels: ['whatsapp', 'telegram', 'sms'],
      cost: iqd(80),
      prices: { whatsapp: iqd(60), telegram: iqd(40), sms: iqd(80) },
      attemptTimeoutMs: 30_000,
    });
  });

  it('an accepted chain has a channel that cannot carry the code, without a price', () => {
    expect(decideSend(aSendState(), aSendRequest({ content: aCode('AB12') }), NOW)).toMatchObject({
      channels: ['whatsapp', 'telegram', 'sms'],
      prices: { whatsapp: iqd(60), sms: iqd(80) },
    });
  });

  test.each<[string, Partial<SendRequest>, cost: number]>([
    ['a code over whatsapp: AUTHENTICATION', { provider: 'whatsapp' }, 61],
    ['a text over whatsapp: UTILITY', { provider: 'whatsapp', content: aText() }, 62],
    ['a template: its own category', aTemplateRequest(), 63],
    ['a text over sms', { provider: 'sms', content: aText() }, 80],
    ['a text of 140 characters', { provider: 'sms', content: aText('a'.repeat(140)) }, 80],
    ['a text of 141 characters', { provider: 'sms', content: aText('a'.repeat(141)) }, 160],
    ['a text over whatsapp, sms dearer by its length', { content: aText('a'.repeat(1_000)) }, 640],
    ['to another mobile operator', { provider: 'sms', phoneNumber: aPhoneNumber('9647012345678') }, 100],
    ['abroad', { provider: 'sms', phoneNumber: aPhoneNumber('905321234567') }, 120],
    ['under a sender ID', { provider: 'sms', senderId: 'Barid' }, 70],
  ])('an accepted send costs the price of its channel: %s', (_, given, cost) => {
    const base = aSendState();
    const state = aSendState({
      prices: {
        ...base.prices,
        whatsapp: { AUTHENTICATION: iqd(61), UTILITY: iqd(62), MARKETING: iqd(63) },
      },
      senderId: given.senderId === 'Barid' ? aSenderId() : undefined,
      whatsappBusinesses: [
        aWhatsappBusiness({
          whatsappAccounts: [aWhatsappAccount({ templates: [aWhatsappTemplate({ category: 'MARKETING' })] })],
        }),
      ],
    });
    expect(decideSend(state, aSendRequest(given), NOW)).toMatchObject({ kind: 'accepted', cost: iqd(cost) });
  });

  it.each([
    ['AUTHENTICATION', iqd(61)],
    ['UTILITY', iqd(62)],
    ['MARKETING', iqd(63)],
  ])('an accepted template of the category %s costs the price of that category', (category, cost) => {
    const whatsapp = { AUTHENTICATION: iqd(61), UTILITY: iqd(62), MARKETING: iqd(63) };
    const templates = [aWhatsappTemplate({ category })];
    const state = aSendState({
      prices: { ...aSendState().prices, whatsapp },
      whatsappBusinesses: [aWhatsappBusiness({ whatsappAccounts: [aWhatsappAccount({ templates })] })],
    });
    expect(decideSend(state, aTemplateRequest(), NOW)).toMatchObject({ cost });
  });

  it('a destination without a price is an unsupported destination', () => {
    const request = aSendRequest({ provider: 'sms', phoneNumber: aPhoneNumber('4915112345678') });
    expect(decideSend(aSendState(), request, NOW)).toEqual({
      kind: 'unsupported-destination',
      missing: 'price',
    });
  });

  it('a template whose category has no price is rejected', () => {
    const templates = [aWhatsappTemplate({ category: 'SERVICE' })];
    const whatsappBusinesses = [aWhatsappBusiness({ whatsappAccounts: [aWhatsappAccount({ templates })] })];
    expect(decideSend(aSendState({ whatsappBusinesses }), aTemplateRequest(), NOW)).toEqual({
      kind: 'unsupported-destination',
      missing: 'price',
    });
  });

  it('a send by auto costs as much as the channels that are left', () => {
    const request = aSendRequest({ phoneNumber: aPhoneNumber('4915112345678') });
    expect(decideSend(aSendState(), request, NOW)).toMatchObject({
      channels: ['whatsapp', 'telegram'],
      cost: iqd(60),
      prices: { whatsapp: iqd(60), telegram: iqd(40) },
    });
    const state = aSendState({ availableChannels: ['telegram'] });
    expect(decideSend(state, aSendRequest(), NOW)).toMatchObject({ channels: ['telegram'], cost: iqd(40) });
  });

  it('an sms costs its real parts when the project bills them', () => {
    const request = aSendRequest({ provider: 'sms', content: aText('م'.repeat(71)) });
    const project = aProject({ settings: { billingUnits: 'gsm0338' } });
    expect(decideSend(aSendState(), request, NOW)).toMatchObject({ cost: iqd(80) });
    expect(decideSend(aSendState({ project }), request, NOW)).toMatchObject({ cost: iqd(160) });
  });

  test.each<[Content, number]>([
    [aCode(), 1_000],
    [aText(), 2_000],
  ])(
    'an accepted send waits for each channel as long as the project says: %j',
    (content, attemptTimeoutMs) => {
      const project = aProject({ settings: { attemptTimeoutMs: { verification: 1_000, other: 2_000 } } });
      expect(decideSend(aSendState({ project }), aSendRequest({ content }), NOW)).toMatchObject({
        attemptTimeoutMs,
      });
    },
  );
});

describe('the last thousandth', () => {
  test.each<[string, Partial<SendState['account']>, kind: string]>([
    ['credit that is just enough', { balance: iqd(80) }, 'accepted'],
    ['a thousandth less', { balance: money(79_999) }, 'insufficient-credit'],
    ['enough without the holds', { balance: iqd(100), held: money(20_001) }, 'insufficient-credit'],
    ['postpaid without credit', { balance: ZERO, paymentType: 'postpaid' }, 'accepted'],
    ['a threshold that is reached', { spendingThreshold: iqd(100), spent: iqd(20) }, 'accepted'],
    [
      'a threshold that is passed',
      { spendingThreshold: iqd(100), spent: money(20_001) },
      'spending-threshold',
    ],
    [
      'a threshold passed on postpaid',
      { spendingThreshold: money(79_999), paymentType: 'postpaid' },
      'spending-threshold',
    ],
  ])('a send is decided to the last thousandth of an IQD: %s', (_, account, kind) => {
    expect(decideSend(aSendState({ account: anAccount(account) }), aSendRequest(), NOW).kind).toBe(kind);
  });
});

describe('trial mode', () => {
  const state = aSendState({ account: anAccount({ trialPhoneNumber: aPhoneNumber('9647700000009') }) });

  it('a project in trial mode may send to its own number only', () => {
    const own = aSendRequest({ phoneNumber: aPhoneNumber('9647700000009') });
    expect(decideSend(state, own, NOW).kind).toBe('accepted');
    expect(decideSend(state, aSendRequest(), NOW)).toEqual({ kind: 'trial-mode' });
  });
});

describe('the rate limit', () => {
  const recent = [1, 2, 3, 4, 5].map((minutes) => NOW - minutes * MINUTE_MS);

  it('the rate limit counts the sends that were accepted within its window', () => {
    expect(decideSend(aSendState({ acceptedAt: recent.slice(1) }), aSendRequest(), NOW).kind).toBe(
      'accepted',
    );
    expect(decideSend(aSendState({ acceptedAt: recent }), aSendRequest(), NOW)).toEqual({
      kind: 'rate-limited',
      waitMinutes: 5,
      maxRequests: 5,
      timeWindowMinutes: 10,
    });
  });

  it('a project without a rate limit may send any number of messages', () => {
    const project = aProject({ settings: { rateLimit: null } });
    expect(decideSend(aSendState({ project, acceptedAt: recent }), aSendRequest(), NOW).kind).toBe(
      'accepted',
    );
  });
});

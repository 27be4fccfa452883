import { describe, expect, it } from 'vitest';
import { type PreflightState, preflightCampaign } from '../../../src/domain/campaigns/preflight.ts';
import { CHANNELS } from '../../../src/domain/shared/channel.ts';
import { iqd, ZERO } from '../../../src/domain/shared/money.ts';
import type { PhoneNumber } from '../../../src/domain/shared/phone-number.ts';
import {
  aCampaign,
  anAccount,
  anId,
  aPhoneNumber,
  aProject,
  aRecipient,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
  HOUR_MS,
  NOW,
  somePrices,
} from '../../support/builders.ts';

const recipients = Array.from({ length: 9 }, (_, n) =>
  aRecipient({ id: anId(100 + n), position: n, phoneNumber: aPhoneNumber(`964770123456${n}`) }),
);
const STATE: PreflightState = {
  project: aProject(),
  account: anAccount(),
  campaign: aCampaign({ totalRecipients: 9 }),
  recipients,
  prices: somePrices(),
  businesses: [aWhatsappBusiness()],
  availableChannels: CHANNELS,
  freeAt: 0,
  conversations: { open: new Set(), count: 0 },
  keepsPlatformLimits: true,
};
const preflight = (given: Partial<PreflightState> = {}) => preflightCampaign({ ...STATE, ...given }, NOW);
const withTemplate = (given: Parameters<typeof aWhatsappTemplate>[0]) => [
  aWhatsappBusiness({ whatsappAccounts: [aWhatsappAccount({ templates: [aWhatsappTemplate(given)] })] }),
];

describe('the preflight of a campaign', () => {
  it('a campaign that can start has no rejection, its cost, the credit after it and the time it takes', () => {
    expect(preflight({ account: anAccount({ balance: iqd(700), held: iqd(100) }) })).toEqual({
      rejections: [],
      recipients: 9,
      cost: iqd(540),
      credit: iqd(600),
      creditLeft: iqd(60),
      messagesPerSecond: 80,
      dailyLimit: 1_000,
      durationMs: 100,
    });
  });

  it('the time is in whole days when the daily limit does not suffice', () => {
    const days = (count: number, open: readonly PhoneNumber[] = []) =>
      preflight({ conversations: { open: new Set(open), count } }).durationMs / (24 * HOUR_MS);
    expect([days(992), days(1_000), days(1_991), days(1_992)]).toEqual([1, 1, 1, 2]);
    expect(preflight({ conversations: { open: new Set(), count: 991 } }).durationMs).toBe(100);
    const [first, ...others] = recipients.map(({ phoneNumber }) => phoneNumber);
    expect(days(1_000, others)).toBe(1);
    expect(
      preflight({
        conversations: { open: new Set([first ?? '', ...others] as PhoneNumber[]), count: 1_000 },
      }),
    ).toMatchObject({ durationMs: 100 });
  });

  it('the time knows no daily limit of a number that has none', () => {
    const number = aWhatsappPhoneNumber({ messagingLimit: 'TIER_UNLIMITED' });
    const businesses = [
      aWhatsappBusiness({ whatsappAccounts: [aWhatsappAccount({ phoneNumbers: [number] })] }),
    ];
    const conversations = { open: new Set<never>(), count: 1_000_000 };
    expect(preflight({ businesses, conversations })).toMatchObject({
      messagesPerSecond: 1_000,
      dailyLimit: null,
      durationMs: 0,
    });
  });

  it('the time counts from now, also when the number is not free yet', () => {
    expect(preflight({ freeAt: NOW + 5_000 })).toMatchObject({ durationMs: 5_100 });
    expect(preflight({ recipients: recipients.slice(0, 8) })).toMatchObject({ durationMs: 0 });
  });

  it('the time is none where nothing limits the rate', () => {
    expect(preflight({ keepsPlatformLimits: false, freeAt: NOW + 5_000 })).toMatchObject({
      messagesPerSecond: null,
      dailyLimit: null,
      durationMs: 0,
    });
  });

  it('the cost follows the template as it is now, and the campaign while the template is unknown', () => {
    expect(preflight({ businesses: withTemplate({ category: 'MARKETING' }) })).toMatchObject({
      cost: iqd(810),
    });
    const campaign = aCampaign({ category: 'MARKETING' });
    expect(preflight({ campaign, businesses: [] })).toMatchObject({
      rejections: [{ kind: 'campaign-template-not-found' }, { kind: 'campaign-phone-not-found' }],
      cost: iqd(810),
      messagesPerSecond: null,
      dailyLimit: null,
      durationMs: 0,
    });
  });

  it('a campaign without recipients says so, and costs nothing', () => {
    expect(preflight({ recipients: [] })).toMatchObject({
      rejections: [{ kind: 'campaign-without-recipients' }],
      recipients: 0,
      cost: ZERO,
      creditLeft: iqd(15_000),
      durationMs: 0,
    });
  });

  it('everything that is wrong is named at once, a recipient at a time', () => {
    const unfit = [
      aRecipient({ phoneNumber: aPhoneNumber('9647701234561'), templateParameters: {} }),
      aRecipient({ phoneNumber: aPhoneNumber('14155550123') }),
      aRecipient({ phoneNumber: aPhoneNumber('9647701234562'), templateParameters: {} }),
    ];
    const rejection = { kind: 'template-parameter-missing', path: 'templateParameters.body.1' };
    const account = anAccount({ balance: iqd(100), trialPhoneNumber: aPhoneNumber('9647701234561') });
    expect(preflight({ recipients: unfit, account, availableChannels: ['sms'] })).toMatchObject({
      rejections: [
        { kind: 'recipient-parameters', phoneNumber: '9647701234561', rejection },
        { kind: 'recipient-parameters', phoneNumber: '9647701234562', rejection },
        { kind: 'unsupported-numbers', phoneNumbers: ['14155550123'] },
        { kind: 'channel-not-available', channel: 'whatsapp' },
        { kind: 'trial-mode' },
        { kind: 'insufficient-credit', yourCredit: iqd(100), requiredCredit: iqd(180) },
      ],
      cost: iqd(180),
      credit: iqd(100),
      creditLeft: ZERO,
    });
  });

  it('a sender that cannot be used and the spending threshold are named too', () => {
    const account = anAccount({ spendingThreshold: iqd(500) });
    expect(preflight({ account, businesses: withTemplate({ status: 'PAUSED' }) }).rejections).toEqual([
      { kind: 'template-not-approved' },
      {
        kind: 'spending-threshold',
        currentSpending: ZERO,
        spendingThreshold: iqd(500),
        cost: iqd(540),
      },
    ]);
  });

  it('the parameters and the number are checked although the template cannot be sent', () => {
    const unfit = [aRecipient({ phoneNumber: aPhoneNumber('9647701234561'), templateParameters: {} })];
    const paused = withTemplate({ status: 'PAUSED' });
    expect(
      preflight({
        recipients: unfit,
        businesses: paused,
        campaign: aCampaign({ whatsappPhoneId: anId(77) }),
      }).rejections,
    ).toEqual([
      { kind: 'campaign-phone-not-found' },
      { kind: 'template-not-approved' },
      {
        kind: 'recipient-parameters',
        phoneNumber: '9647701234561',
        rejection: { kind: 'template-parameter-missing', path: 'templateParameters.body.1' },
      },
    ]);
  });

  it('the own number of a trial account may receive a campaign, and whatsapp alone is enough', () => {
    const [own] = recipients;
    const account = anAccount({ trialPhoneNumber: own?.phoneNumber ?? null });
    const state = { account, recipients: recipients.slice(0, 1), availableChannels: ['whatsapp'] } as const;
    expect(preflight(state).rejections).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import {
  recipientPrice,
  type StartState,
  startCampaign,
} from '../../../src/domain/campaigns/start-campaign.ts';
import { CHANNELS } from '../../../src/domain/shared/channel.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import {
  aCampaign,
  aMessage,
  anAccount,
  anId,
  aPhoneNumber,
  aProject,
  aRecipient,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
  MINUTE_MS,
  NOW,
  somePrices,
} from '../../support/builders.ts';

const LATER = NOW + 1;
const RECIPIENTS = [1, 2].map((n) =>
  aRecipient({
    id: anId(100 + n),
    position: n - 1,
    phoneNumber: aPhoneNumber(`964770123456${n}`),
    phoneNumberAsSent: `0770123456${n}`,
    templateParameters: { body: { '1': `Number ${n}` } },
    estimatedCost: iqd(1),
  }),
);
const STATE: StartState = {
  project: aProject({ settings: { attemptTimeoutMs: { verification: 1, other: 7 * MINUTE_MS } } }),
  account: anAccount(),
  campaign: aCampaign({ totalRecipients: 2, estimatedCost: iqd(2), updatedAt: NOW }),
  recipients: RECIPIENTS,
  prices: somePrices(),
  businesses: [aWhatsappBusiness()],
  availableChannels: CHANNELS,
};
const start = (given: Partial<StartState> = {}) => startCampaign({ ...STATE, ...given }, LATER);

const withTemplate = (given: Parameters<typeof aWhatsappTemplate>[0]) => [
  aWhatsappBusiness({ whatsappAccounts: [aWhatsappAccount({ templates: [aWhatsappTemplate(given)] })] }),
];

describe('a start', () => {
  it('a start makes the campaign running, reserves the price of each recipient, and makes a message for each', () => {
    expect(start()).toEqual({
      kind: 'started',
      account: anAccount({ held: iqd(120) }),
      sender: {
        kind: 'sender',
        account: aWhatsappAccount(),
        phoneNumber: aWhatsappPhoneNumber(),
        template: aWhatsappTemplate(),
        category: 'UTILITY',
      },
      campaign: {
        ...STATE.campaign,
        status: 'running',
        startedAt: LATER,
        estimatedCost: iqd(120),
        reserved: iqd(120),
        updatedAt: LATER,
      },
      costs: { estimatedCost: iqd(60), billingState: 'reserved' },
      recipients: RECIPIENTS.map((each) => ({ ...each, estimatedCost: iqd(60), billingState: 'reserved' })),
      messages: RECIPIENTS.map((each) =>
        aMessage({
          smsId: `sms-${each.id}`,
          campaignId: each.campaignId,
          phoneNumber: each.phoneNumber,
          phoneNumberAsSent: each.phoneNumberAsSent,
          whatsappSender: {
            accountId: aWhatsappAccount().id,
            phoneId: aWhatsappPhoneNumber().id,
            templateName: 'order_update',
            templateId: aWhatsappTemplate().id,
          },
          content: {
            smsType: 'whatsapp-template',
            templateName: 'order_update',
            templateParameters: each.templateParameters,
          },
          channels: ['whatsapp'],
          cost: iqd(60),
          prices: { whatsapp: iqd(60) },
          attemptTimeoutMs: 7 * MINUTE_MS,
          createdAt: LATER,
        }),
      ),
    });
  });

  it('a start takes category and price from the template as it is now', () => {
    expect(start({ businesses: withTemplate({ category: 'MARKETING' }) })).toMatchObject({
      campaign: { category: 'MARKETING', estimatedCost: iqd(180), reserved: iqd(180) },
      recipients: [{ estimatedCost: iqd(90) }, { estimatedCost: iqd(90) }],
      messages: [{ cost: iqd(90), prices: { whatsapp: iqd(90) } }, { cost: iqd(90) }],
    });
  });

  it('a start gives its messages the template of the campaign, and not another language of the same name', () => {
    const other = aWhatsappTemplate({ id: anId(7), language: 'ar' });
    const account = aWhatsappAccount({ templates: [aWhatsappTemplate(), other] });
    const businesses = [aWhatsappBusiness({ whatsappAccounts: [account] })];
    const chosen = start({ businesses, campaign: { ...STATE.campaign, templateId: other.id } });
    expect(chosen).toMatchObject({
      messages: RECIPIENTS.map(() => ({
        whatsappSender: { templateName: 'order_update', templateId: other.id },
      })),
    });
  });

  it('a start leaves the status of the campaign to its caller', () => {
    const campaign = aCampaign({ status: 'scheduled', scheduledFor: NOW });
    expect(start({ campaign })).toMatchObject({ campaign: { status: 'running', scheduledFor: NOW } });
  });

  it.each<[string, Partial<StartState>, object]>([
    ['without recipients', { recipients: [], businesses: [] }, { kind: 'campaign-without-recipients' }],
    ['of a template that is gone', { businesses: [] }, { kind: 'campaign-template-not-found' }],
    [
      'of a template that is not approved',
      { businesses: withTemplate({ status: 'PAUSED' }) },
      { kind: 'template-not-approved' },
    ],
    [
      'of a template that changed its parameters',
      { businesses: withTemplate({ components: [{ type: 'BODY', text: '{{1}} {{2}}' }] }) },
      {
        kind: 'recipient-parameters',
        phoneNumber: '07701234561',
        rejection: { kind: 'template-parameter-missing', path: 'templateParameters.body.2' },
      },
    ],
    [
      'to a number of a country that lost its price',
      { recipients: [aRecipient({ phoneNumber: aPhoneNumber('14155550123') }), ...RECIPIENTS] },
      { kind: 'unsupported-numbers', phoneNumbers: ['14155550123'] },
    ],
    [
      'without a provider for whatsapp',
      { availableChannels: ['sms', 'telegram'] },
      { kind: 'channel-not-available', channel: 'whatsapp' },
    ],
    [
      'in trial mode with other numbers than its own',
      { account: anAccount({ trialPhoneNumber: aPhoneNumber('9647701234561') }) },
      { kind: 'trial-mode' },
    ],
    [
      'that the credit does not cover',
      { account: anAccount({ balance: iqd(200), held: iqd(80.001) }) },
      { kind: 'insufficient-credit', yourCredit: iqd(119.999), requiredCredit: iqd(120) },
    ],
    [
      'beyond the spending threshold',
      { account: anAccount({ held: iqd(1), spendingThreshold: iqd(120) }) },
      {
        kind: 'spending-threshold',
        currentSpending: iqd(1),
        spendingThreshold: iqd(120),
        cost: iqd(120),
      },
    ],
  ])('a start %s is rejected', (_, given, rejection) => {
    expect(start(given)).toEqual(rejection);
  });

  it('a start that the credit covers exactly is done, and a postpaid one needs no credit', () => {
    expect(start({ account: anAccount({ balance: iqd(200), held: iqd(80) }) })).toMatchObject({
      kind: 'started',
    });
    const account = anAccount({ paymentType: 'postpaid', balance: iqd(0) });
    expect(start({ account })).toMatchObject({ kind: 'started' });
    expect(start({ availableChannels: ['whatsapp'] })).toMatchObject({ kind: 'started' });
  });

  it('in trial mode the own number may receive a campaign', () => {
    const account = anAccount({ trialPhoneNumber: aPhoneNumber('9647701234561') });
    expect(start({ account, recipients: RECIPIENTS.slice(0, 1) })).toMatchObject({
      kind: 'started',
      campaign: { reserved: iqd(60) },
    });
  });
});

describe('the estimate of a recipient', () => {
  it('the estimate is the price of the category', () => {
    expect(recipientPrice(somePrices(), { category: 'UTILITY' })).toBe(iqd(60));
    expect(recipientPrice(somePrices(), { category: 'MARKETING' })).toBe(iqd(90));
  });
});

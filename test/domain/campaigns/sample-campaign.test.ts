import { describe, expect, it } from 'vitest';
import { CAMPAIGN_STATUSES } from '../../../src/domain/campaigns/campaign.ts';
import type { NewRecipient } from '../../../src/domain/campaigns/recipient.ts';
import { type SampleState, sampleCampaign } from '../../../src/domain/campaigns/sample-campaign.ts';
import { CHANNELS } from '../../../src/domain/shared/channel.ts';
import { iqd, ZERO } from '../../../src/domain/shared/money.ts';
import {
  aCampaign,
  anAccount,
  anId,
  aPhoneNumber,
  aProject,
  aRecipient,
  aTestNumber,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
  HOUR_MS,
  NOW,
  PROJECT_ID,
  somePrices,
} from '../../support/builders.ts';

const LATER = NOW + 1;
const PARENT = aCampaign({
  id: anId(1),
  name: 'Spring',
  status: 'scheduled',
  scheduledFor: NOW + HOUR_MS,
  totalRecipients: 5,
  estimatedCost: iqd(300),
});
const IDS = { campaign: anId(2), recipients: [anId(201), anId(202), anId(203)] };
const STATE: SampleState = {
  project: aProject({ environment: 'live' }),
  account: anAccount(),
  parent: PARENT,
  prices: somePrices(),
  businesses: [aWhatsappBusiness()],
  availableChannels: CHANNELS,
};

const LAYLA: NewRecipient = {
  phoneNumber: aPhoneNumber('9647701234561'),
  phoneNumberAsSent: '07701234561',
  templateParameters: { body: { '1': 'Layla' } },
};
const OMAR: NewRecipient = {
  phoneNumber: aPhoneNumber('9647701234562'),
  phoneNumberAsSent: '07701234562',
  templateParameters: { body: { '1': 'Omar' } },
};

const sample = (given: Partial<SampleState> = {}, recipients: readonly NewRecipient[] = [LAYLA, OMAR]) =>
  sampleCampaign({ ...STATE, ...given }, recipients, IDS, LATER);

const withTemplate = (given: Parameters<typeof aWhatsappTemplate>[0]) => [
  aWhatsappBusiness({ whatsappAccounts: [aWhatsappAccount({ templates: [aWhatsappTemplate(given)] })] }),
];

describe('a sample of a campaign', () => {
  it('a sample is a running child with the template and the number of its parent, and recipients of its own', () => {
    expect(sample()).toMatchObject({
      kind: 'started',
      sender: { template: aWhatsappTemplate(), phoneNumber: aWhatsappPhoneNumber() },
      campaign: {
        id: anId(2),
        projectId: PROJECT_ID,
        name: 'Spring (sample)',
        category: 'UTILITY',
        templateId: PARENT.templateId,
        whatsappPhoneId: PARENT.whatsappPhoneId,
        status: 'running',
        scheduledFor: null,
        startedAt: LATER,
        completedAt: null,
        totalRecipients: 2,
        estimatedCost: iqd(120),
        reserved: iqd(120),
        captured: ZERO,
        released: ZERO,
        sampleOf: anId(1),
        createdAt: LATER,
        updatedAt: LATER,
      },
      messages: [
        { smsId: `sms-${anId(201)}`, campaignId: anId(2), phoneNumber: LAYLA.phoneNumber, cost: iqd(60) },
        { smsId: `sms-${anId(202)}`, campaignId: anId(2), phoneNumber: OMAR.phoneNumber, cost: iqd(60) },
      ],
    });
  });

  it('the recipients of a sample are reserved in the order of the request, from the first position on', () => {
    expect(sample()).toHaveProperty('recipients', [
      aRecipient({
        ...LAYLA,
        id: anId(201),
        campaignId: anId(2),
        position: 0,
        estimatedCost: iqd(60),
        billingState: 'reserved',
      }),
      aRecipient({
        ...OMAR,
        id: anId(202),
        campaignId: anId(2),
        position: 1,
        estimatedCost: iqd(60),
        billingState: 'reserved',
      }),
    ]);
  });

  it('a sample takes category and price from the template as it is now', () => {
    expect(sample({ businesses: withTemplate({ category: 'MARKETING' }) })).toMatchObject({
      campaign: { category: 'MARKETING', estimatedCost: iqd(180), reserved: iqd(180) },
      recipients: [{ estimatedCost: iqd(90) }, { estimatedCost: iqd(90) }],
    });
  });

  it('a sample sends once to a number that comes again, with the values of its first entry', () => {
    const again = { ...OMAR, phoneNumber: LAYLA.phoneNumber };
    expect(sample({}, [LAYLA, again, OMAR])).toMatchObject({
      campaign: { totalRecipients: 2, reserved: iqd(120) },
      recipients: [LAYLA, { ...OMAR, id: anId(202) }],
    });
  });

  it.each(CAMPAIGN_STATUSES)('a %s campaign has samples only before its start', (status) => {
    const isBeforeStart = status === 'draft' || status === 'scheduled';
    expect(sample({ parent: { ...PARENT, status } })).toMatchObject({
      kind: isBeforeStart ? 'started' : 'campaign-not-editable',
    });
  });

  it('a sample of a campaign that has started is rejected for that, whatever else is wrong', () => {
    expect(sample({ parent: { ...PARENT, status: 'running' }, businesses: [] })).toEqual({
      kind: 'campaign-not-editable',
    });
  });

  it.each<[string, Partial<SampleState>, readonly NewRecipient[], object]>([
    [
      'of a template that is gone, before its recipients are read',
      { businesses: [] },
      [{ ...LAYLA, templateParameters: {} }],
      { kind: 'campaign-template-not-found' },
    ],
    [
      'of a template that is not approved',
      { businesses: withTemplate({ status: 'PAUSED' }) },
      [LAYLA],
      { kind: 'template-not-approved' },
    ],
    [
      'to a number of a country without a price',
      {},
      [LAYLA, { ...OMAR, phoneNumber: aPhoneNumber('14155550123'), phoneNumberAsSent: '0014155550123' }],
      { kind: 'unsupported-numbers', phoneNumbers: ['0014155550123'] },
    ],
    [
      'to a test number of a live project',
      {},
      [{ ...LAYLA, phoneNumber: aTestNumber('0001'), phoneNumberAsSent: '9990000000001' }],
      { kind: 'unsupported-numbers', phoneNumbers: ['9990000000001'] },
    ],
    [
      'whose parameters do not fit the template',
      {},
      [LAYLA, { ...OMAR, templateParameters: {} }],
      {
        kind: 'recipient-parameters',
        phoneNumber: '07701234562',
        rejection: { kind: 'template-parameter-missing', path: 'templateParameters.body.1' },
      },
    ],
    [
      'without a provider for whatsapp',
      { availableChannels: ['sms'] },
      [LAYLA],
      { kind: 'channel-not-available', channel: 'whatsapp' },
    ],
    [
      'that the credit does not cover',
      { account: anAccount({ balance: iqd(119) }) },
      [LAYLA, OMAR],
      { kind: 'insufficient-credit', yourCredit: iqd(119), requiredCredit: iqd(120) },
    ],
  ])('a sample %s is rejected', (_, given, recipients, rejection) => {
    expect(sample(given, recipients)).toEqual(rejection);
  });

  it('a sample of a dev project may go to a test number', () => {
    const recipient = { ...LAYLA, phoneNumber: aTestNumber('0001') };
    expect(sample({ project: aProject({ environment: 'dev' }) }, [recipient])).toMatchObject({
      kind: 'started',
      recipients: [{ phoneNumber: aTestNumber('0001') }],
    });
  });
});

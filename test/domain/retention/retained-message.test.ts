import { describe, expect, it } from 'vitest';
import { RATE_LIMIT_WINDOW_MINUTES_MAX } from '../../../src/domain/access/project.ts';
import { RETENTION_DAYS_MIN, type Retention } from '../../../src/domain/access/retention.ts';
import { anonymised, fateOf } from '../../../src/domain/retention/retained-message.ts';
import { anonymisedRecipient } from '../../../src/domain/retention/retained-recipient.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import {
  aCampaign,
  aDeliveryReport,
  aMessage,
  anAttempt,
  aPhoneNumber,
  aRecipient,
  aTemplateContent,
  aText,
  NOW,
} from '../../support/builders.ts';

const DAY_MS = 86_400_000;
const retention: Retention = { days: 90, action: 'remove' };
const over = { hasOpenWebhook: false, campaign: null };
const OLD = NOW - 90 * DAY_MS - 1;
const final = { createdAt: OLD, isFinal: true };
const ended = aCampaign({ status: 'completed', startedAt: 1, completedAt: OLD, totalRecipients: 0 });

describe('the fate of a message', () => {
  it('a message is kept on its last day, and goes a millisecond later', () => {
    expect(fateOf({ ...final, createdAt: OLD + 1 }, over, retention, NOW)).toBe('keep');
    expect(fateOf(final, over, retention, NOW)).toBe('remove');
    expect(fateOf(final, over, { ...retention, action: 'anonymise' }, NOW)).toBe('anonymise');
  });

  it.each([
    ['is not final', { ...final, isFinal: false }, over],
    ['has a webhook event to deliver', final, { ...over, hasOpenWebhook: true }],
    ['belongs to a campaign that runs', final, { ...over, campaign: aCampaign({ status: 'running' }) }],
    [
      'belongs to a campaign that ended on the last day',
      final,
      { ...over, campaign: { ...ended, completedAt: OLD + 1 } },
    ],
    [
      'belongs to a campaign with an open hold',
      final,
      { ...over, campaign: { ...ended, reserved: iqd(90), captured: iqd(60) } },
    ],
  ])('a message that %s waits', (_, message, context) => {
    expect(fateOf(message, context, retention, NOW)).toBe('wait');
  });

  it('a message goes with its campaign when that ended long enough ago', () => {
    expect(fateOf(final, { ...over, campaign: ended }, retention, NOW)).toBe('remove');
  });

  it('no retention is shorter than the longest window of a rate limit', () => {
    expect(RETENTION_DAYS_MIN * 24 * 60).toBeGreaterThan(RATE_LIMIT_WINDOW_MINUTES_MAX);
  });
});

describe('an anonymised message', () => {
  const message = aMessage({
    phoneNumber: aPhoneNumber('9647701234567'),
    phoneNumberAsSent: '07701234567',
    senderId: 'Barid',
    whatsappSender: { accountId: 'a', phoneId: 'b', templateName: 'order_update' },
    attempts: [
      anAttempt({
        state: 'failed',
        reason: 'No handset 9647701234567',
        providerMessageIds: ['meta/wamid.1'],
        deliveredIds: ['meta/wamid.1'],
        endedAt: NOW + 1,
      }),
    ],
    status: 'failed',
    isFinal: true,
    deliveryReport: aDeliveryReport(),
    sentAt: NOW + 1,
    finalAt: NOW + 2,
    errorReason: 'No handset 9647701234567',
  });

  it('an anonymised message keeps its status, times, channels and money only', () => {
    expect(anonymised(message)).toEqual({
      ...message,
      phoneNumber: '0000000000',
      phoneNumberAsSent: '0000000000',
      whatsappSender: { accountId: null, phoneId: null, templateName: null },
      content: { smsType: 'verification', verificationCode: '' },
      attempts: [
        {
          channel: 'whatsapp',
          state: 'failed',
          reason: null,
          providerMessageIds: [],
          deliveredIds: [],
          startedAt: NOW,
          endedAt: NOW + 1,
        },
      ],
      deliveryReport: null,
      errorReason: null,
    });
  });

  it('an anonymised message of each type has that type, and nothing of the content', () => {
    const contentOf = (content = message.content) => anonymised({ ...message, content }).content;
    expect(contentOf(aText('Hello'))).toEqual({ smsType: 'custom', customMessage: '' });
    expect(contentOf(aTemplateContent())).toEqual({
      smsType: 'whatsapp-template',
      templateName: '',
      templateParameters: {},
    });
  });

  it('a message that is anonymised twice is the same', () => {
    expect(anonymised(anonymised(message))).toEqual(anonymised(message));
  });
});

describe('an anonymised recipient', () => {
  it('an anonymised recipient has no digit of a number, and nothing of another recipient', () => {
    const recipient = aRecipient({
      id: '019bc1e5a2c0000000000a1f',
      errorMessage: 'No handset',
      finalCost: iqd(60),
    });
    expect(anonymisedRecipient(recipient)).toEqual({
      ...recipient,
      phoneNumber: 'ghpbchelaicggggggggggahf',
      phoneNumberAsSent: '0000000000',
      templateParameters: {},
      errorMessage: null,
    });
  });
});

import { describe, expect, it } from 'vitest';
import {
  newRecipient,
  progressOf,
  recipientIdOf,
  recipientStatusOf,
  smsIdOf,
} from '../../../src/domain/campaigns/recipient.ts';
import type { Message } from '../../../src/domain/messages/message.ts';
import { iqd, ZERO } from '../../../src/domain/shared/money.ts';
import { aMessage, anId, aRecipient, NOW } from '../../support/builders.ts';

const CAMPAIGN_ID = '664def456abc7890123456c1';

describe('a recipient', () => {
  it('a new recipient is queued, with nothing reserved', () => {
    const { phoneNumber, phoneNumberAsSent, templateParameters } = aRecipient();
    const place = { id: anId(7), campaignId: anId(8), position: 3, estimatedCost: iqd(90) };
    expect(newRecipient({ phoneNumber, phoneNumberAsSent, templateParameters }, place)).toEqual(
      aRecipient(place),
    );
  });

  it('the message of a recipient has its id', () => {
    expect(smsIdOf(anId(5))).toBe(`sms-${anId(5)}`);
    expect(recipientIdOf(`sms-${anId(5)}`)).toBe(anId(5));
  });

  it.each([
    ['pending', 'queued'],
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'read'],
    ['failed', 'failed'],
  ] as const)('a recipient whose message is %s is %s', (status, expected) => {
    expect(recipientStatusOf(status)).toBe(expected);
    expect(progressOf(aMessage({ status }), NOW).status).toBe(expected);
  });
});

const RESERVED = {
  status: 'queued',
  finalCost: null,
  billingState: 'reserved',
  errorMessage: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
};
const SENT_AT = NOW + 1;
const FINAL_AT = NOW + 2;
const LATER = NOW + 9;

describe('the progress of a recipient', () => {
  it.each<[string, Partial<Message>, object]>([
    ['waits', {}, {}],
    ['was tried on a channel that failed', { errorReason: 'Not now' }, {}],
    ['was sent', { status: 'sent', sentAt: SENT_AT }, { status: 'sent', sentAt: SENT_AT }],
    [
      'was sent, and nothing was reported in time',
      { status: 'sent', isFinal: true, sentAt: SENT_AT, finalAt: FINAL_AT, errorReason: 'No receipt' },
      { status: 'sent', finalCost: ZERO, billingState: 'released', sentAt: SENT_AT },
    ],
    [
      'was delivered',
      { status: 'delivered', isFinal: true, sentAt: SENT_AT, finalAt: FINAL_AT },
      {
        status: 'delivered',
        finalCost: iqd(80),
        billingState: 'charged',
        sentAt: SENT_AT,
        deliveredAt: FINAL_AT,
      },
    ],
    [
      'was delivered, in a project that pays the price of the channel that delivered,',
      {
        settlement: 'delivered',
        cost: iqd(80),
        prices: { whatsapp: iqd(60) },
        status: 'delivered',
        isFinal: true,
        finalAt: FINAL_AT,
      },
      { status: 'delivered', finalCost: iqd(60), billingState: 'charged', deliveredAt: FINAL_AT },
    ],
    [
      'was read',
      { status: 'read', isFinal: true, sentAt: SENT_AT, finalAt: FINAL_AT },
      {
        status: 'read',
        finalCost: iqd(80),
        billingState: 'charged',
        sentAt: SENT_AT,
        deliveredAt: FINAL_AT,
        readAt: LATER,
      },
    ],
    [
      'failed',
      { status: 'failed', isFinal: true, finalAt: FINAL_AT, errorReason: 'Not on whatsapp' },
      {
        status: 'failed',
        finalCost: ZERO,
        billingState: 'released',
        errorMessage: 'Not on whatsapp',
        failedAt: FINAL_AT,
      },
    ],
    [
      'failed after it was sent',
      { status: 'failed', isFinal: true, sentAt: SENT_AT, finalAt: FINAL_AT, errorReason: 'Lost' },
      {
        status: 'failed',
        finalCost: ZERO,
        billingState: 'released',
        errorMessage: 'Lost',
        sentAt: SENT_AT,
        failedAt: FINAL_AT,
      },
    ],
  ])('a recipient whose message %s has its status, cost and instants', (_, message, expected) => {
    expect(progressOf(aMessage({ campaignId: CAMPAIGN_ID, ...message }), LATER)).toEqual({
      ...RESERVED,
      ...expected,
    });
  });
});

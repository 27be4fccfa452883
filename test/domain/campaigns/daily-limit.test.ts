import { describe, expect, it, test } from 'vitest';
import {
  CONVERSATION_MS,
  DAILY_LIMIT_MIN,
  dailyLimitOf,
  decideConversations,
} from '../../../src/domain/campaigns/daily-limit.ts';
import type { PhoneNumber } from '../../../src/domain/shared/phone-number.ts';
import type { WhatsappPhoneNumber } from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import { HOUR_MS, MINUTE_MS, NOW } from '../../support/builders.ts';

const number = (n: number) => `964770000000${n}` as PhoneNumber;
const message = (n: number) => ({ smsId: `sms-${n}`, phoneNumber: number(n) });

test.each([
  ['TIER_250', 250],
  ['TIER_1K', 1_000],
  ['TIER_2K', 2_000],
  ['TIER_10K', 10_000],
  ['TIER_100K', 100_000],
  ['TIER_UNLIMITED', null],
  ['', 250],
])('a number with the messaging limit %j may open %j conversations a day', (messagingLimit, limit) => {
  expect(dailyLimitOf({ messagingLimit } as WhatsappPhoneNumber)).toBe(limit);
});

it('a conversation lasts a day, and a new portfolio may open 250 of them', () => {
  expect([CONVERSATION_MS, DAILY_LIMIT_MIN]).toEqual([24 * HOUR_MS, 250]);
});

describe('the daily limit', () => {
  it('lets messages start until as many conversations are open as it allows', () => {
    const open = { count: 1, oldest: [NOW - HOUR_MS, NOW], open: new Set<PhoneNumber>() };
    const { opened, retryAts } = decideConversations(3, open, [1, 2, 3, 4].map(message), NOW);
    expect(opened).toEqual([number(1), number(2)]);
    expect([...retryAts]).toEqual([
      ['sms-3', NOW + 23 * HOUR_MS],
      ['sms-4', NOW + 24 * HOUR_MS],
    ]);
  });

  it('counts a number once, and not one that has an open conversation or wrote', () => {
    const open = { count: 2, oldest: [NOW - HOUR_MS], open: new Set([number(1)]) };
    const messages = [message(1), message(2), { smsId: 'sms-2-again', phoneNumber: number(2) }, message(3)];
    const { opened, retryAts } = decideConversations(3, open, messages, NOW);
    expect(opened).toEqual([number(2)]);
    expect([...retryAts.keys()]).toEqual(['sms-3']);
  });

  it('waits for more conversations to end when it was lowered', () => {
    const oldest = [NOW - 5 * HOUR_MS, NOW - 4 * HOUR_MS, NOW - 3 * HOUR_MS];
    const open = { count: 4, oldest, open: new Set<PhoneNumber>() };
    const { opened, retryAts } = decideConversations(2, open, [message(1), message(2)], NOW);
    expect(opened).toEqual([]);
    // Two have to end before any is free again.
    expect([...retryAts.values()]).toEqual([NOW + 21 * HOUR_MS, NOW + 21 * HOUR_MS]);
  });

  it('has a message that does not fit wait for a second at least, and a day when nothing is known', () => {
    const ending = { count: 1, oldest: [NOW - 24 * HOUR_MS + 1], open: new Set<PhoneNumber>() };
    expect([...decideConversations(1, ending, [message(1)], NOW).retryAts.values()]).toEqual([NOW + 1_000]);
    const unknown = { count: 1, oldest: [], open: new Set<PhoneNumber>() };
    expect([...decideConversations(1, unknown, [message(1)], NOW).retryAts.values()]).toEqual([
      NOW + 24 * HOUR_MS,
    ]);
    const later = { count: 1, oldest: [NOW - 24 * HOUR_MS + MINUTE_MS], open: new Set<PhoneNumber>() };
    expect([...decideConversations(1, later, [message(1)], NOW).retryAts.values()]).toEqual([
      NOW + MINUTE_MS,
    ]);
  });
});

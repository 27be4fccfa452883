import { describe, expect, test } from 'vitest';
import {
  type AttemptState,
  channelFlow,
  firstSmsIdAt,
  lastChannel,
  SMS_ID_PATTERN,
  smsIdTime,
} from '../../../src/domain/messages/message.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';
import { aMessage, anAttempt, anSmsId } from '../../support/builders.ts';

describe('the chain as the interface shows it', () => {
  test.each<[AttemptState, object]>([
    ['dispatching', { tried: false }],
    ['accepted', { tried: true, success: true }],
    ['unknown', { tried: false }],
    ['rejected', { tried: true, success: false }],
    ['failed', { tried: true, success: false }],
    ['timed-out', { tried: true, success: false }],
    ['skipped', { tried: false }],
    ['delivered', { tried: true, success: true }],
    ['read', { tried: true, success: true }],
  ])('shows a channel whose attempt is %s', (state, shown) => {
    const message = aMessage({ channels: ['whatsapp'], attempts: [anAttempt({ state })] });
    expect(channelFlow(message)).toStrictEqual([{ channel: 'whatsapp', ...shown }]);
  });

  test('names every channel in order, tried or not', () => {
    const message = aMessage({
      channels: ['whatsapp', 'telegram', 'sms'],
      attempts: [anAttempt({ state: 'rejected' }), anAttempt({ channel: 'telegram', state: 'skipped' })],
    });
    expect(channelFlow(message)).toStrictEqual([
      { channel: 'whatsapp', tried: true, success: false },
      { channel: 'telegram', tried: false },
      { channel: 'sms', tried: false },
    ]);
  });
});

describe('the last channel', () => {
  test.each<[string, readonly [Channel, AttemptState][], Channel]>([
    ['before any was tried', [], 'telegram'],
    ['after the first', [['telegram', 'rejected']], 'telegram'],
    ['after a first that was skipped', [['telegram', 'skipped']], 'telegram'],
    [
      'while the submit result of the second is open',
      [
        ['telegram', 'rejected'],
        ['sms', 'dispatching'],
      ],
      'telegram',
    ],
    [
      'while the outcome of the second is unknown',
      [
        ['telegram', 'failed'],
        ['sms', 'unknown'],
      ],
      'telegram',
    ],
    [
      'after the second',
      [
        ['telegram', 'rejected'],
        ['sms', 'accepted'],
      ],
      'sms',
    ],
    [
      'after a second that was skipped',
      [
        ['telegram', 'failed'],
        ['sms', 'skipped'],
      ],
      'telegram',
    ],
  ])('names the last channel %s', (_, attempts, expected) => {
    const message = aMessage({
      channels: ['telegram', 'sms'],
      attempts: attempts.map(([channel, state]) => anAttempt({ channel, state })),
    });
    expect(lastChannel(message)).toBe(expected);
  });
});

test.each([
  [anSmsId(), true],
  ['sms-0123456789abcdef01234567', true],
  ['sms-0123456789ABCDEF01234567', false],
  ['sms-0123456789abcdef0123456', false],
  ['sms-0123456789abcdef012345678', false],
  ['0123456789abcdef01234567', false],
  ['sms-0123456789abcdef0123456g', false],
  ['x-sms-0123456789abcdef01234567', false],
])('%s is an smsId: %s', (smsId, expected) => {
  expect(SMS_ID_PATTERN.test(smsId)).toBe(expected);
});

test('the id of a message says when it was made, and a time is a range of ids', () => {
  expect(smsIdTime('sms-0000000000ffabcdef012345')).toBe(255);
  expect(firstSmsIdAt(255)).toBe('sms-0000000000ff');
});

import { describe, expect, it } from 'vitest';
import { BUSY_RETRIES_END_MS, BUSY_RETRY_MS, mayOnlyWait } from '../../../src/domain/chain/busy-retry.ts';
import type { ChainEvent } from '../../../src/domain/chain/chain-event.ts';
import { advance } from '../../../src/domain/chain/fallback-chain.ts';
import { channelFlow, type Message } from '../../../src/domain/messages/message.ts';
import type { RejectionCause } from '../../../src/domain/providers/rejection-class.ts';
import {
  aCode,
  aMessage,
  anAttempt,
  anSmsId,
  aTemplateContent,
  HOUR_MS,
  MINUTE_MS,
  NOW,
  SECOND_MS,
} from '../../support/builders.ts';
import { inWords } from '../../support/chain-words.ts';

const CAMPAIGN = '664def456abc789012345699';

const queued = aMessage({
  campaignId: CAMPAIGN,
  content: aTemplateContent(),
  channels: ['whatsapp'],
  attempts: [],
  createdAt: NOW,
});
const dispatching: Message = {
  ...queued,
  attempts: [anAttempt({ channel: 'whatsapp', state: 'dispatching', startedAt: NOW })],
};

const rejectedFor = (cause: RejectionCause): ChainEvent => ({
  kind: 'submitted',
  attemptNumber: 0,
  result: { kind: 'rejected', reason: 'Not now', endsChain: false, cause },
});
const start: ChainEvent = { kind: 'start', attemptNumber: 0 };
const cancel: ChainEvent = { kind: 'cancel', attemptNumber: 0, reason: 'Stopped' };

function tell(message: Message, event: ChainEvent, now = NOW) {
  const outcome = advance(message, event, now);
  return { message: outcome.message, effects: outcome.effects.map((effect) => inWords(effect, now)) };
}

/** What messages wait that differ in their ids alone: within the bounds, and up to both. */
function expectWaits(
  message: Message,
  triedMs: number,
  { shortest, longest }: Readonly<Record<'shortest' | 'longest', number>>,
): void {
  const waits = Array.from({ length: 300 }, (_, n) => {
    const { effects } = tell(
      { ...message, smsId: anSmsId(n * 2_654_435_761) },
      rejectedFor('busy'),
      NOW + triedMs,
    );
    expect(effects[0]).toBe('unschedule 0');
    return Number(/^start 0 in (\d+)$/.exec(effects[1] ?? '')?.[1]);
  });
  const margin = (longest - shortest) / 20;
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(shortest);
  expect(Math.min(...waits)).toBeLessThanOrEqual(shortest + margin);
  expect(Math.max(...waits)).toBeGreaterThanOrEqual(longest - margin);
  expect(Math.max(...waits)).toBeLessThanOrEqual(longest);
}

describe('a message of a campaign', () => {
  it('a message of a campaign tries a busy provider again half a minute later, for a day from the first try on', () => {
    expect([BUSY_RETRY_MS, BUSY_RETRIES_END_MS]).toEqual([30 * SECOND_MS, 24 * HOUR_MS]);
  });

  it('a message of a campaign stays pending when the provider is busy, and starts again', () => {
    const busy = tell(dispatching, rejectedFor('busy'), NOW + SECOND_MS);
    expect(busy.effects).toEqual(['unschedule 0', 'start 0 in 30000']);
    expect(busy.message).toMatchObject({
      status: 'pending',
      isFinal: false,
      attempts: [{ state: 'busy', reason: 'Not now', startedAt: NOW, endedAt: NOW + SECOND_MS }],
    });
    expect(channelFlow(busy.message)).toEqual([{ channel: 'whatsapp', tried: false }]);
    const again = tell(busy.message, start, NOW + 31 * SECOND_MS);
    expect(again.effects).toEqual([`deadline 0 in ${queued.attemptTimeoutMs}`, 'submit 0']);
    expect(again.message.attempts).toEqual([
      {
        channel: 'whatsapp',
        state: 'dispatching',
        reason: null,
        providerMessageIds: [],
        deliveredIds: [],
        startedAt: NOW + 31 * SECOND_MS,
        triedSince: NOW,
        endedAt: null,
      },
    ]);
    const third = tell(
      tell(again.message, rejectedFor('busy'), NOW + 32 * SECOND_MS).message,
      start,
      NOW + HOUR_MS,
    );
    expect(third.message.attempts).toMatchObject([{ startedAt: NOW + HOUR_MS, triedSince: NOW }]);
  });

  it('a message of a campaign that is tried again starts once at a time', () => {
    const { message } = tell(dispatching, rejectedFor('busy'));
    const again = tell(message, start).message;
    expect(tell(again, start)).toEqual({ message: again, effects: [] });
  });

  it.each([
    [31 * SECOND_MS, 30_000, 31_000],
    [5 * MINUTE_MS, 150_000, 300_000],
    [11 * MINUTE_MS, 300_000, 600_000],
    [12 * HOUR_MS, 300_000, 600_000],
    [24 * HOUR_MS - MINUTE_MS, 30_000, 60_000],
    [24 * HOUR_MS - 1, 30_000, 30_000],
  ])(
    'a message of a campaign that was tried for %i ms waits for %i to %i ms: as long again or half of it, ten minutes at most',
    (triedMs, shortest, longest) => {
      expectWaits(dispatching, triedMs, { shortest, longest });
    },
  );

  it('a message of a campaign fails when the provider is busy a day after the first try', () => {
    const last = tell(dispatching, rejectedFor('busy'), NOW + 24 * HOUR_MS - 1);
    const again = tell(last.message, start, NOW + 24 * HOUR_MS).message;
    const { message, effects } = tell(again, rejectedFor('busy'), NOW + 24 * HOUR_MS);
    expect(message).toMatchObject({ status: 'failed', isFinal: true, errorReason: 'Not now' });
    expect(effects).toEqual(['unschedule 0', 'finally failed whatsapp: Not now', 'release']);
  });

  it('a message of a campaign is not tried again when its time was over before the provider said that it is busy', () => {
    const final: Message = { ...dispatching, status: 'failed', isFinal: true };
    expect(tell(final, rejectedFor('busy')).effects).toEqual([]);
  });

  it('a message of a campaign fails and stops its campaign when the provider rejects the sender', () => {
    const { message, effects } = tell(dispatching, rejectedFor('sender'));
    expect(message).toMatchObject({ status: 'failed', errorReason: 'Not now' });
    expect(effects).toEqual([
      'unschedule 0',
      'finally failed whatsapp: Not now',
      'release',
      'stop the campaign: Not now',
    ]);
  });

  it('a message stops its campaign also when the rejection ends the chain', () => {
    const event: ChainEvent = {
      kind: 'submitted',
      attemptNumber: 0,
      result: { kind: 'rejected', reason: 'Locked', endsChain: true, cause: 'sender' },
    };
    expect(tell(dispatching, event).effects.at(-1)).toBe('stop the campaign: Locked');
  });

  it('a message of a campaign is cancelled before its attempt has begun: failed, and its hold released', () => {
    const { message, effects } = tell(queued, cancel, NOW + SECOND_MS);
    expect(message).toMatchObject({
      status: 'failed',
      isFinal: true,
      finalAt: NOW + SECOND_MS,
      errorReason: 'Stopped',
      attempts: [],
      content: aTemplateContent({ templateParameters: {} }),
    });
    expect(effects).toEqual(['unschedule 0', 'finally failed whatsapp: Stopped', 'release']);
  });

  it('a message of a campaign for which the provider is busy can be cancelled', () => {
    const { message } = tell(dispatching, rejectedFor('busy'));
    expect(tell(message, cancel).message).toMatchObject({ status: 'failed', errorReason: 'Stopped' });
  });

  it('a message of a campaign is not cancelled once its attempt has begun, nor twice', () => {
    expect(tell(dispatching, cancel)).toEqual({ message: dispatching, effects: [] });
    const { message } = tell(queued, cancel);
    expect(tell(message, cancel)).toEqual({ message, effects: [] });
    expect(tell(queued, { ...cancel, attemptNumber: 1 } as ChainEvent).effects).toEqual([]);
  });

  it('a message of a campaign is not cancelled by an attempt on a channel that it does not have', () => {
    const behindTheLast: ChainEvent = { kind: 'cancel', attemptNumber: 1, reason: 'Stopped' };
    expect(tell(dispatching, behindTheLast)).toEqual({ message: dispatching, effects: [] });
  });

  it('a message whose provider is busy starts on that channel again, and on no later one', () => {
    const { message } = tell({ ...dispatching, channels: ['whatsapp', 'sms'] }, rejectedFor('busy'));
    expect(tell(message, { kind: 'start', attemptNumber: 1 })).toEqual({ message, effects: [] });
    expect(tell(message, start).effects).toContain('submit 0');
  });
});

describe('a message that was sent by itself', () => {
  const single: Message = { ...dispatching, campaignId: null, channels: ['whatsapp'] };

  it('a single message does not wait for a busy provider while there is another channel', () => {
    const two: Message = { ...single, content: aCode(), channels: ['whatsapp', 'sms'] };
    expect(tell(two, rejectedFor('busy')).effects).toEqual(['unschedule 0', 'start 1']);
  });

  it.each([
    [400, 500, 500],
    [501, 500, 501],
    [1 * SECOND_MS, 500, 1_000],
    [3 * SECOND_MS, 1_500, 3_000],
    [29 * SECOND_MS, 14_500, 29_000],
    [2 * MINUTE_MS, 14_900, 29_800],
    [5 * MINUTE_MS - 12 * SECOND_MS, 5_000, 10_000],
  ])(
    'a single message that was tried for %i ms waits for %i to %i ms: as long again or half of it, a tenth of its time at most',
    (triedMs, shortest, longest) => {
      expectWaits({ ...single, attemptTimeoutMs: 5 * MINUTE_MS }, triedMs, { shortest, longest });
    },
  );

  it('a code of thirty seconds waits for a tenth of its time at most', () => {
    const code: Message = { ...single, content: aCode(), attemptTimeoutMs: 30 * SECOND_MS };
    expectWaits(code, 10 * SECOND_MS, { shortest: 1_400, longest: 2_800 });
  });

  it('a message that is tried again and again waits for other parts of its bounds', () => {
    const text: Message = { ...single, attemptTimeoutMs: 5 * MINUTE_MS };
    const waits = Array.from({ length: 20 }, (_, n) => {
      const at = 2 * MINUTE_MS + n * 7_919;
      return tell(text, rejectedFor('busy'), NOW + at).effects[1];
    });
    expect(new Set(waits).size).toBe(20);
  });

  it('a single message only waits while it is busy, has no other channel, and has time for another try', () => {
    const busy = tell(single, rejectedFor('limited')).message;
    const endsAt = NOW + single.attemptTimeoutMs - 2 * SECOND_MS;
    expect(mayOnlyWait(busy, 0, NOW)).toBe(true);
    expect(mayOnlyWait(busy, 0, endsAt - 1)).toBe(true);
    expect(mayOnlyWait(busy, 0, endsAt)).toBe(false);
    expect(mayOnlyWait(single, 0, NOW)).toBe(false);
    expect(mayOnlyWait({ ...busy, attempts: [] }, 0, NOW)).toBe(false);
    expect(mayOnlyWait({ ...busy, content: aCode(), channels: ['whatsapp', 'sms'] }, 0, NOW)).toBe(false);
    expect(mayOnlyWait({ ...busy, campaignId: CAMPAIGN }, 0, NOW)).toBe(false);
    expect(mayOnlyWait({ ...busy, isFinal: true }, 0, NOW)).toBe(false);
  });

  it('a single message tries a busy last channel again half a second later, for as long as an attempt may take', () => {
    const again = tell(single, rejectedFor('busy'));
    expect(again.effects).toEqual(['unschedule 0', 'start 0 in 500']);
    expect(again.message).toMatchObject({ status: 'pending', isFinal: false });
    const endsAt = NOW + single.attemptTimeoutMs - 2 * SECOND_MS;
    expect(tell(single, rejectedFor('busy'), endsAt - 1).effects).toEqual(['unschedule 0', 'start 0 in 500']);
    expect(tell(single, rejectedFor('busy'), endsAt).effects).toEqual([
      'unschedule 0',
      'finally failed whatsapp: Not now',
      'release',
    ]);
  });

  it('a single message whose later channels cannot carry it waits for a busy provider', () => {
    const onlyWhatsapp: Message = { ...single, channels: ['whatsapp', 'sms'] };
    expect(onlyWhatsapp.content.smsType).toBe('whatsapp-template');
    expect(tell(onlyWhatsapp, rejectedFor('busy')).effects).toEqual(['unschedule 0', 'start 0 in 500']);
  });

  it('a single message stops nothing when the provider rejects the sender', () => {
    expect(tell(single, rejectedFor('sender')).effects).toEqual([
      'unschedule 0',
      'finally failed whatsapp: Not now',
      'release',
    ]);
  });
});

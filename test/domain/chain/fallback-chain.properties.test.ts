import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainEvent } from '../../../src/domain/chain/chain-event.ts';
import { channelsOfProviderValue } from '../../../src/domain/messages/provider-value.ts';
import { canCarry } from '../../../src/domain/messages/send-request.ts';
import { CHANNELS, type Channel } from '../../../src/domain/shared/channel.ts';
import { aCode, aMessage, aTemplateContent, aText, HOUR_MS } from '../../support/builders.ts';
import {
  accepted,
  busy,
  claimed,
  deadline,
  RECEIPT_KINDS,
  receiptArrived,
  receiptFailed,
  rejected,
  start,
  unknown,
} from '../../support/chain-words.ts';
import { ChainWorld, type Move } from '../../support/chain-world.ts';

const RUNS = 1_000;
const CHAIN_LENGTH_MAX = 3;

const contents = fc.constantFrom(aCode('123456'), aCode('AB12'), aText(), aTemplateContent());
const chains = fc.constantFrom<readonly Channel[]>(
  channelsOfProviderValue('whatsapp-sms'),
  channelsOfProviderValue('telegram-sms'),
  channelsOfProviderValue('whatsapp-telegram-sms'),
  channelsOfProviderValue('sms'),
  channelsOfProviderValue('whatsapp'),
  channelsOfProviderValue('telegram'),
);
const messages = fc
  .record({ content: contents, channels: chains })
  .filter(({ content, channels }) => channels.some((channel) => canCarry(channel, content)))
  .map((given) => aMessage(given));

const attempts = fc.nat({ max: CHAIN_LENGTH_MAX - 1 });
const results = fc.oneof(
  { weight: 8, arbitrary: attempts.map((attemptNumber) => accepted(attemptNumber)) },
  { weight: 2, arbitrary: attempts.map((attemptNumber) => rejected(attemptNumber, 'Rejected')) },
  { weight: 1, arbitrary: attempts.map((attemptNumber) => rejected(attemptNumber, 'Blocked', true)) },
  { weight: 1, arbitrary: attempts.map(busy) },
  { weight: 3, arbitrary: attempts.map((attemptNumber) => unknown(attemptNumber, 'Unclear')) },
);
const receipts = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(attempts, fc.constantFrom(...RECEIPT_KINDS)).map((given) => receiptArrived(...given)),
  },
  { weight: 1, arbitrary: attempts.map((attemptNumber) => receiptFailed(attemptNumber, 'Failed')) },
  {
    weight: 1,
    arbitrary: fc.tuple(attempts, fc.constantFrom(...CHANNELS)).chain(([attemptNumber, channel]) => {
      const given = [
        ...RECEIPT_KINDS.map((kind) => receiptArrived(attemptNumber, kind)),
        receiptFailed(attemptNumber, 'Failed'),
      ];
      return fc.constantFrom(...given.map((event) => claimed(event, { channel, provider: 'first' })));
    }),
  },
);
const pauses = fc.oneof(fc.constant(0), fc.nat({ max: 60_000 }), fc.nat({ max: 100 * HOUR_MS }));
const told = (events: fc.Arbitrary<ChainEvent>) =>
  fc.record({ kind: fc.constant('told' as const), event: events, afterMs: pauses });
const positions = fc.nat({ max: 9 });

const ordinaryMoves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('due' as const), which: positions }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stale' as const), which: positions }) },
  { weight: 4, arbitrary: told(results) },
  { weight: 3, arbitrary: told(receipts) },
);
const strayMoves: fc.Arbitrary<Move> = told(
  fc.oneof(
    attempts.map((attemptNumber) => start(attemptNumber)),
    attempts.map((attemptNumber) => deadline(attemptNumber)),
  ),
);
const stories = fc.array(
  fc.oneof({ weight: 8, arbitrary: ordinaryMoves }, { weight: 1, arbitrary: strayMoves }),
  { maxLength: 30, size: 'max' },
);

describe('whatever happens to a chain', () => {
  it('a chain says each thing once, resolves the hold once, and ends when the channels fall silent', () => {
    const endings = new Set<string>();
    fc.assert(
      fc.property(messages, stories, (message, moves) => {
        const world = new ChainWorld(message);
        for (const move of moves) world.make(move);
        world.fallSilent();
        expect(world.message.isFinal).toBe(true);
        expect(world.scheduled.size).toBe(0);
        endings.add(world.message.status);
      }),
      { numRuns: RUNS },
    );
    expect([...endings].sort(), 'every ending was seen').toEqual(['delivered', 'failed', 'read', 'sent']);
  });

  it('it tries every channel that can carry the message when all stay silent', () => {
    fc.assert(
      fc.property(messages, (message) => {
        const world = new ChainWorld(message);
        world.fallSilent();
        expect(world.submitted.map((attemptNumber) => message.channels[attemptNumber])).toEqual(
          message.channels.filter((channel) => canCarry(channel, message.content)),
        );
        expect(world.message.status).toBe('failed');
      }),
    );
  });

  it('a channel whose result was unclear is not given the message again, whatever it says soon after', () => {
    const soon = fc.record({
      kind: fc.constant('told' as const),
      event: attempts.chain((at) => fc.constantFrom(unknown(at, 'Unclear'), busy(at), rejected(at, 'No'))),
      afterMs: fc.nat({ max: 3_000 }),
    });
    const hastyStories = fc.array(fc.oneof(ordinaryMoves, soon, soon), { maxLength: 30, size: 'max' });
    fc.assert(
      fc.property(messages, hastyStories, (message, moves) => {
        const world = new ChainWorld(message);
        for (const move of moves) world.make(move);
        world.fallSilent();
        expect(world.message.isFinal).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('a late read is the only change after the end', () => {
    fc.assert(
      fc.property(
        messages,
        stories,
        fc.array(fc.oneof(results, receipts), { maxLength: 20, size: 'max' }),
        (message, moves, late) => {
          const world = new ChainWorld(message);
          for (const move of moves) world.make(move);
          world.fallSilent();
          const { status } = world.message;
          for (const event of late) world.make({ kind: 'told', event, afterMs: HOUR_MS });
          const allowed = status === 'delivered' ? ['delivered', 'read'] : [status];
          expect(allowed).toContain(world.message.status);
        },
      ),
    );
  });
});

import { expect } from 'vitest';
import type { ChainEvent } from '../../src/domain/chain/chain-event.ts';
import type { ChainOutcome } from '../../src/domain/chain/chain-outcome.ts';
import { advance } from '../../src/domain/chain/fallback-chain.ts';
import { channelFlow, lastChannel, type Message } from '../../src/domain/messages/message.ts';
import { canCarry, maskContent } from '../../src/domain/messages/send-request.ts';
import type { Channel } from '../../src/domain/shared/channel.ts';
import { NOW } from './builders.ts';
import { deadline, start } from './chain-words.ts';

/** A start and at most two deadlines for each of three channels. */
const DUE_EVENTS_MAX = 9;

/** Something that happens: the n-th scheduled thing comes due, one comes again, or a channel says something. */
export type Move =
  | { readonly kind: 'due'; readonly which: number }
  | { readonly kind: 'stale'; readonly which: number }
  | { readonly kind: 'told'; readonly event: ChainEvent; readonly afterMs: number };

interface Scheduled {
  readonly event: ChainEvent;
  readonly at: number;
}

/** A chain with everything around it that keeps its promises: what is due, what was handed to channels, what was said. */
export class ChainWorld {
  message: Message;
  now = NOW;
  readonly scheduled = new Map<string, Scheduled>();
  readonly submitted: number[] = [];
  readonly revoked: number[] = [];
  readonly said: string[] = [];
  readonly settled: (Channel | null)[] = [];
  readonly #everScheduled: ChainEvent[] = [];
  readonly #unclear = new Set<number>();

  constructor(message: Message) {
    this.message = message;
    this.#schedule(start(0), NOW);
  }

  make(move: Move): void {
    switch (move.kind) {
      case 'due':
        this.#fire([...this.scheduled.values()][move.which % Math.max(1, this.scheduled.size)]);
        return;
      case 'stale':
        this.tell(this.#everScheduled[move.which % this.#everScheduled.length] ?? start(0));
        return;
      case 'told': {
        this.now += move.afterMs;
        const { event } = move;
        // A channel can only result what it was given.
        if (event.kind !== 'submitted' || this.submitted.includes(event.attemptNumber)) this.tell(event);
        return;
      }
      default:
        move satisfies never;
    }
  }

  /** Lets everything scheduled come due in its order, as if no channel said another word. */
  fallSilent(): void {
    for (let count = 0; this.scheduled.size > 0; count += 1) {
      expect(count, 'the chain comes to an end').toBeLessThan(DUE_EVENTS_MAX);
      this.#fire([...this.scheduled.values()].sort((a, b) => a.at - b.at)[0]);
    }
  }

  tell(event: ChainEvent): void {
    if (event.kind === 'start' || event.kind === 'deadline') this.scheduled.delete(keyOf(event));
    const before = this.message;
    const outcome = advance(before, event, this.now);
    this.#checkEffects(before, outcome);
    this.message = outcome.message;
    this.message.attempts.forEach(({ state }, at) => {
      if (state === 'unknown') this.#unclear.add(at);
    });
    this.#take(outcome);
    this.#checkState(before);
  }

  #fire(due: Scheduled | undefined): void {
    if (due === undefined) return;
    this.now = Math.max(this.now, due.at);
    this.tell(due.event);
  }

  #take({ effects }: ChainOutcome): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'submit':
          this.submitted.push(effect.attemptNumber);
          break;
        case 'revoke':
          this.revoked.push(effect.attemptNumber);
          break;
        case 'schedule-start':
          this.#schedule(start(effect.attemptNumber), effect.at);
          break;
        case 'schedule-deadline':
          this.#schedule(deadline(effect.attemptNumber), effect.at);
          break;
        case 'unschedule':
          this.scheduled.delete(keyOf(start(effect.attemptNumber)));
          this.scheduled.delete(keyOf(deadline(effect.attemptNumber)));
          break;
        case 'settle':
          this.settled.push(effect.channel);
          break;
        case 'stop-campaign':
          throw new Error('A single message stops no campaign');
        case 'status-changed':
          this.said.push(`${effect.isFinal ? 'finally ' : ''}${effect.status}`);
          break;
        default:
          effect satisfies never;
      }
    }
  }

  #schedule(event: ChainEvent, at: number): void {
    this.scheduled.set(keyOf(event), { event, at });
    this.#everScheduled.push(event);
  }

  #checkEffects(before: Message, { message: after, effects }: ChainOutcome): void {
    const others = effects.filter(({ kind }) => kind !== 'revoke');
    if (before.isFinal) expect(others, 'nothing but a revocation follows the final word').toEqual([]);
    for (const effect of effects) {
      if (effect.kind === 'revoke') {
        const attempt = after.attempts[effect.attemptNumber];
        const isDelivered = after.attempts.some(({ state }) => state === 'delivered' || state === 'read');
        const givenUp = isDelivered ? ['timed-out', 'dispatching', 'accepted', 'unknown'] : ['timed-out'];
        expect(givenUp, 'only what was given up is revoked').toContain(attempt?.state);
        expect(attempt?.providerMessageIds, 'a revocation names what it revokes').not.toEqual([]);
      }
      if (effect.kind === 'schedule-deadline') {
        expect(effect.at, 'a deadline lies ahead').toBeGreaterThan(this.now);
      }
      if (effect.kind === 'schedule-start') expect(after.channels[effect.attemptNumber]).toBeDefined();
      if (effect.kind !== 'submit') continue;
      const wasBusy = before.attempts[effect.attemptNumber]?.state === 'busy';
      const earlier = wasBusy ? [...this.#unclear] : this.submitted;
      expect(earlier, 'only a busy channel is handed the message again').not.toContain(effect.attemptNumber);
      expect(effect.attemptNumber).toBe(after.attempts.length - 1);
      expect(canCarry(after.channels[effect.attemptNumber] as Channel, after.content)).toBe(true);
      for (const ended of after.attempts.slice(0, effect.attemptNumber)) {
        expect(['rejected', 'failed', 'timed-out', 'skipped'], 'every earlier channel ended').toContain(
          ended.state,
        );
      }
    }
  }

  #checkState(before: Message): void {
    const { message } = this;
    expect(message.channels).toEqual(before.channels);
    this.#checkFlow();
    if (!message.isFinal) {
      expect(this.settled).toEqual([]);
      expect(this.said).toEqual(message.status === 'sent' ? ['sent'] : []);
      expect(this.scheduled.size, 'a message that goes on is waited for').toBeGreaterThan(0);
      return;
    }
    expect([...this.scheduled.keys()], 'a final message is waited for no more').toEqual([]);
    expect(message.content).toEqual(maskContent(message.content));
    this.#checkLastWord();
    if (before.isFinal) {
      expect(message.finalAt).toBe(before.finalAt);
      expect(message.sentAt).toBe(before.sentAt);
      expect(message.errorReason).toBe(before.errorReason);
      const isLateRead = before.status === 'delivered' && message.status === 'read';
      if (!isLateRead) expect(message.status, 'the status stays').toBe(before.status);
    }
  }

  #checkFlow(): void {
    const flow = channelFlow(this.message);
    expect(flow.map(({ channel }) => channel)).toEqual(this.message.channels);
    for (const [attemptNumber, { tried, success }] of flow.entries()) {
      expect(tried, `channel ${attemptNumber} was tried`).toBe(this.#wasTried(attemptNumber));
      expect(success !== undefined, `success of channel ${attemptNumber} is known`).toBe(tried);
    }
    const lastTried = this.submitted.findLast((attemptNumber) => this.#wasTried(attemptNumber));
    expect(lastChannel(this.message)).toBe(this.message.channels[lastTried ?? 0]);
  }

  /** Submitted, and its submit result is no longer open. */
  #wasTried(attemptNumber: number): boolean {
    const state = this.message.attempts[attemptNumber]?.state ?? 'dispatching';
    return (
      this.submitted.includes(attemptNumber) &&
      state !== 'dispatching' &&
      state !== 'unknown' &&
      state !== 'busy'
    );
  }

  #checkLastWord(): void {
    const { message, said, settled } = this;
    expect(settled, 'the hold is resolved once').toHaveLength(1);
    const [paidChannel = null] = settled;
    switch (message.status) {
      case 'delivered':
      case 'read':
        expect(said).toEqual(['sent', 'finally delivered']);
        expect(paidChannel).not.toBeNull();
        return;
      case 'sent':
        expect(said).toEqual(['sent', 'finally sent']);
        expect(paidChannel).toBe(lastChannel(message));
        return;
      case 'failed':
        expect([['finally failed'], ['sent', 'finally failed']]).toContainEqual(said);
        expect(paidChannel).toBeNull();
        return;
      default:
        expect.unreachable(`a final message is ${message.status}`);
    }
  }
}

function keyOf(event: ChainEvent): string {
  return `${event.kind}/${event.attemptNumber}`;
}

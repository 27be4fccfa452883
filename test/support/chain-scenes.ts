import { expect } from 'vitest';
import type { ChainEvent } from '../../src/domain/chain/chain-event.ts';
import { advance } from '../../src/domain/chain/fallback-chain.ts';
import type { Message } from '../../src/domain/messages/message.ts';
import { aMessage, HOUR_MS, NOW, SECOND_MS } from './builders.ts';
import { accepted, inWords, start } from './chain-words.ts';

/** What every message built here gives a channel. */
export const ATTEMPT_TIMEOUT = 30 * SECOND_MS;
export const DAY_MS = 24 * HOUR_MS;
export const SILENCE = 'No delivered receipt in time';
export const CANNOT = 'The channel cannot carry this message';

/** An event, the effects it must have, and how long after the first scene it comes, in milliseconds. */
export type Scene = readonly [event: ChainEvent, effects: readonly string[], after?: number];

export const toSms = aMessage({ channels: ['sms'], prices: {} });
export const toWhatsappThenSms = aMessage({ channels: ['whatsapp', 'sms'] });
export const toAll = aMessage({ channels: ['whatsapp', 'telegram', 'sms'] });

export const STARTED: Scene = [start(0), [`deadline 0 in ${ATTEMPT_TIMEOUT}`, 'submit 0']];
export const SECOND_STARTED: Scene = [start(1), [`deadline 1 in ${ATTEMPT_TIMEOUT}`, 'submit 1']];
export const SMS_TAKEN: Scene = [accepted(0), ['sent sms']];

/** Plays scenes, a second apart unless they say when, comparing the effects of each, and gives the message at the end. */
export function play(message: Message, scenes: readonly Scene[]): Message {
  let current = message;
  scenes.forEach(([event, effects, after], index) => {
    const now = NOW + (after ?? index * SECOND_MS);
    const outcome = advance(current, event, now);
    expect(
      outcome.effects.map((effect) => inWords(effect, now)),
      `scene ${index + 1}: ${JSON.stringify(event)}`,
    ).toEqual(effects);
    current = outcome.message;
  });
  return current;
}

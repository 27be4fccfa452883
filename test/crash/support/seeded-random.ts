import { randomInt } from 'node:crypto';

const SEED_MAX = 2 ** 31;

/** The seed in the environment variable, or a new one. */
export function seedFrom(text: string | undefined): number {
  const seed = text === undefined || text === '' ? randomInt(SEED_MAX) : Number(text);
  if (!Number.isInteger(seed)) throw new Error(`A seed is a whole number, not ${text}`);
  return seed;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number between both ends. */
export function between(random: () => number, [least, most]: readonly [number, number]): number {
  return Math.round(least + random() * (most - least));
}

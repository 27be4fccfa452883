import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

const SEED_MAX = 2 ** 31;

/** The seed in the environment variable, or a new one. */
export function seedFrom(text) {
  const seed = text === undefined || text === '' ? randomInt(SEED_MAX) : Number(text);
  if (!Number.isInteger(seed)) throw new Error(`A seed is a whole number, not ${text}`);
  return seed;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
export function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What is measured: the commit, marked when the sources differ from it. */
export function commit() {
  const git = (...args) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    const isChanged = git('status', '--porcelain', '--', '../src').trim() !== '';
    return `${git('rev-parse', '--short=12', 'HEAD').trim()}${isChanged ? ' with changes' : ''}`;
  } catch {
    return 'unknown';
  }
}

import { describe, expect, it, test } from 'vitest';
import {
  API_KEY_PATTERN,
  API_KEY_RANDOM_BYTES,
  environmentOfKey,
  newApiKey,
} from '../../../src/domain/access/api-key.ts';
import { hasChecksum } from '../../../src/domain/shared/checksum.ts';

const HEX = '0123456789abcdef0123456789abcdef01234567';
const LIVE = `sk_live_${HEX}`;
const DEV = `sk_dev_${HEX}`;

test.each([
  ['a live key', LIVE, true],
  ['a dev key', DEV, true],
  ['something before it', `x${LIVE}`, false],
  ['a digit behind it', `${LIVE}0`, false],
])('tells a key by its form: %s', (_, text, expected) => {
  expect(API_KEY_PATTERN.test(text)).toBe(expected);
});

describe('the checksum of a key', () => {
  const RANDOM = '0123456789abcdef0123456789abcdef';
  /** Knows one text only. */
  const digest = (text: string) => (text === `sk_live_${RANDOM}` ? 'feedc0de1234567890' : '00000000ffffffff');

  it('stands at the end of a new key, in the form of every key', () => {
    const key = newApiKey('live', RANDOM, digest);
    expect(key).toBe(`sk_live_${RANDOM}feedc0de`);
    expect(key).toMatch(API_KEY_PATTERN);
    expect(2 * API_KEY_RANDOM_BYTES).toBe(RANDOM.length);
  });

  test.each([
    ['a new key', `sk_live_${RANDOM}feedc0de`, true],
    ['a key of another environment', `sk_dev_${RANDOM}feedc0de`, false],
    ['another checksum', `sk_live_${RANDOM}feedc0df`, false],
    ['another key with the same checksum', `sk_live_1${RANDOM.slice(1)}feedc0de`, false],
    ['an older key', LIVE, false],
  ])('tells a new key from one that was made elsewhere: %s', (_, key, expected) => {
    expect(hasChecksum(key, digest)).toBe(expected);
  });
});

it('tells the environment by the prefix', () => {
  expect(environmentOfKey(LIVE)).toBe('live');
  expect(environmentOfKey(DEV)).toBe('dev');
});

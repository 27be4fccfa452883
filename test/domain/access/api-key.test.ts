import { describe, expect, it, test } from 'vitest';
import {
  API_KEY_PATTERN,
  API_KEY_RANDOM_BYTES,
  apiKeyFromHeader,
  bearerFromHeader,
  environmentOfKey,
  newApiKey,
} from '../../../src/domain/access/api-key.ts';
import { hasChecksum } from '../../../src/domain/shared/checksum.ts';

const HEX = '0123456789abcdef0123456789abcdef01234567';
const LIVE = `sk_live_${HEX}`;
const DEV = `sk_dev_${HEX}`;

describe('the key in a header', () => {
  test.each<[string, header: string | undefined, key: string | null]>([
    ['a live key', `Bearer ${LIVE}`, LIVE],
    ['a dev key', `Bearer ${DEV}`, DEV],
    ['a scheme in small letters', `bearer ${LIVE}`, LIVE],
    ['two spaces', `Bearer  ${LIVE}`, LIVE],
    ['no header', undefined, null],
    ['an empty header', '', null],
    ['no scheme', LIVE, null],
    ['another scheme', `Basic ${LIVE}`, null],
    ['no space', `Bearer${LIVE}`, null],
    ['39 digits', `Bearer ${LIVE.slice(0, -1)}`, null],
    ['41 digits', `Bearer ${LIVE}0`, null],
    ['upper-case hex', `Bearer sk_live_${HEX.toUpperCase()}`, null],
    ['another prefix', `Bearer sk_test_${HEX}`, null],
    ['no prefix', `Bearer ${HEX}`, null],
    ['something before the prefix', `Bearer x${LIVE}`, null],
    ['something after it', `Bearer ${LIVE} x`, null],
    ['something before it', `x Bearer ${LIVE}`, null],
    ['a line feed after it', `Bearer ${LIVE}\n`, null],
  ])('finds the API key in a header, or null: %s', (_, header, key) => {
    expect(apiKeyFromHeader(header)).toBe(key);
  });
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

test.each<[header: string | undefined, token: string | null]>([
  ['Bearer any.token_1', 'any.token_1'],
  ['bearer x', 'x'],
  ['Bearer ', null],
  ['Basic x', null],
  ['Bearer a b', null],
  [undefined, null],
])('finds the bearer token in %s', (header, token) => {
  expect(bearerFromHeader(header)).toBe(token);
});

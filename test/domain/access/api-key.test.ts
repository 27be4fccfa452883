import { describe, expect, it, test } from 'vitest';
import { apiKeyFromHeader, environmentOfKey } from '../../../src/domain/access/api-key.ts';

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
    ['capital hex', `Bearer ${LIVE.toUpperCase()}`, null],
    ['another prefix', `Bearer sk_test_${HEX}`, null],
    ['no prefix', `Bearer ${HEX}`, null],
    ['something before the prefix', `Bearer x${LIVE}`, null],
    ['something after it', `Bearer ${LIVE} x`, null],
    ['something before it', `x Bearer ${LIVE}`, null],
    ['a line feed after it', `Bearer ${LIVE}\n`, null],
  ])('%s', (_, header, key) => {
    expect(apiKeyFromHeader(header)).toBe(key);
  });
});

it('tells the environment by the prefix', () => {
  expect(environmentOfKey(LIVE)).toBe('live');
  expect(environmentOfKey(DEV)).toBe('dev');
});

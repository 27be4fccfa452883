import { describe, expect, test } from 'vitest';
import { apiKeyFromHeader, bearerFromHeader } from '../../../../src/adapters/http/routing/authorization.ts';

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

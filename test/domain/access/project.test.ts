import { expect, it, test } from 'vitest';
import { DEFAULT_SETTINGS, isSlug, SLUG_RULE } from '../../../src/domain/access/project.ts';

it('gives a new project five sends in ten minutes, any address, quoted prices and Arabic texts', () => {
  expect(DEFAULT_SETTINGS).toEqual({
    rateLimit: { maxRequests: 5, timeWindowMinutes: 10 },
    addressRateLimit: null,
    allowedIps: [],
    ipRuleScope: 'resources',
    settlement: 'quoted',
    billingUnits: 'flat140',
    language: 'ar',
    attemptTimeoutMs: { verification: 30_000, other: 300_000 },
    retention: null,
    lowCredit: null,
    weight: 1,
  });
});

test.each([
  ['one character', 'a', true],
  ['letters, digits and hyphens', 'shop-2-go', true],
  ['60 characters', 'a'.repeat(60), true],
  ['61 characters', 'a'.repeat(61), false],
  ['nothing', '', false],
  ['an upper-case letter', 'Shop', false],
  ['a space at the end', 'shop ', false],
  ['a space in front', ' shop', false],
  ['a line feed at the end', 'shop\n', false],
  ['24 hex characters, like an id', '0123456789abcdef01234567', false],
  ['23 hex characters', '0123456789abcdef0123456', true],
  ['25 hex characters', '0123456789abcdef012345678', true],
  ['24 characters that are not all hex', '0123456789abcdef0123456x', true],
  ['24 hex characters behind another letter', 'x0123456789abcdef01234567', true],
])('a slug has 1 to 60 of a-z, 0-9 and -, and is no id: %s', (_, text, expected) => {
  expect(isSlug(text)).toBe(expected);
});

it('the rule of slugs is written out for an operator', () => {
  expect(SLUG_RULE).toBe('must be 1 to 60 of a-z, 0-9 and -, and not 24 hex characters');
});

import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../../../src/adapters/egress/webhooks/retry-after.ts';

/** 2026-10-21T07:28:00Z */
const NOW = 1_792_567_680_000;

test.each<[string | string[] | undefined, number | null]>([
  ['120', 120_000],
  ['0', 0],
  [' 7 ', 7_000],
  ['999999999', 999_999_999_000],
  ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 0],
  ['Tue, 20 Oct 2026 07:28:00 GMT', 0],
  ['1e3', null],
  ['-5', null],
  ['1.5', null],
  ['0x10', null],
  ['9'.repeat(400), null],
  ['2026-10-21T07:28:30Z', null],
  ['Wed, 99 Xxx 2026 07:28:30 GMT', null],
  ['soon', null],
  ['', null],
  [['1', '2'], null],
  [undefined, null],
])('the header Retry-After: %j is parsed to %j', (header, expected) => {
  expect(parseRetryAfter(header, NOW)).toBe(expected);
});

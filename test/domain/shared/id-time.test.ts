import { expect, it, test } from 'vitest';
import { firstIdAt, idTime, LAST_ID } from '../../../src/domain/shared/id-time.ts';

test.each([
  [0, '000000000000'],
  [255, '0000000000ff'],
  [281_474_976_710_655, 'ffffffffffff'],
])('ids of the instant %d begin with %s', (at, id) => {
  expect(firstIdAt(at)).toBe(id);
});

test.each([
  [-1, '000000000000'],
  [Number.NEGATIVE_INFINITY, '000000000000'],
  [281_474_976_710_656, 'ffffffffffff'],
  [Number.POSITIVE_INFINITY, 'ffffffffffff'],
])('the instant %d, which no id can have, counts as the end %s', (at, id) => {
  expect(firstIdAt(at)).toBe(id);
});

it('the instant of an id is in its first twelve digits', () => {
  expect(idTime('0000000000ffabcdef012345')).toBe(255);
});

it('the last id comes behind every id of hex characters', () => {
  expect(LAST_ID > 'f'.repeat(24)).toBe(true);
});

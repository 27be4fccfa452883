import { expect, test } from 'vitest';
import { offsetOf, pageCount } from '../../../src/domain/shared/page.ts';

test.each([
  [1, 50, 0],
  [2, 50, 50],
  [3, 1, 2],
])('page %d of %d rows begins after %d', (page, limit, offset) => {
  expect(offsetOf({ page, limit })).toBe(offset);
});

test.each([
  [0, 100, 1],
  [1, 100, 1],
  [100, 100, 1],
  [101, 100, 2],
  [200, 100, 2],
])('%d rows in pages of %d are %d pages', (total, limit, pages) => {
  expect(pageCount(total, limit)).toBe(pages);
});

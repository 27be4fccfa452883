import { expect, it } from 'vitest';
import { byName } from '../../../src/domain/shared/by-name.ts';

it('a record by name has the value of each name, in the order of the names', () => {
  const record = byName(['sms', 'telegram'], (name) => name.length);
  expect(Object.entries(record)).toEqual([
    ['sms', 3],
    ['telegram', 8],
  ]);
});

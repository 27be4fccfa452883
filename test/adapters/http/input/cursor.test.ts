import { expect, it } from 'vitest';
import { z } from 'zod';
import { cursorOf, placeOf } from '../../../../src/adapters/http/input/cursor.ts';

const place = z.tuple([z.number(), z.string()]);

it('a cursor names the place that it was made of, and none is no place', () => {
  expect(placeOf(cursorOf([2, 'id-2']), place)).toEqual([2, 'id-2']);
  expect(placeOf(undefined, place)).toBeNull();
});

it.each([['x'], [''], [Buffer.from('[1]').toString('base64url')]])(
  '%j is no cursor of the list',
  (cursor) => {
    expect(() => placeOf(cursor, place)).toThrow('validation-failed');
  },
);

import { beforeEach, expect, it } from 'vitest';
import { HeldBytes } from '../../../../src/adapters/http/routing/held-bytes.ts';

const BYTES_MAX = 100;
const [A, B, C] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];

let closed: { readonly name: string }[];
let held: HeldBytes<{ readonly name: string }>;

beforeEach(() => {
  closed = [];
  held = new HeldBytes(BYTES_MAX, (holder) => closed.push(holder));
});

it('a holder that is kept counts and is not closed: the next one is', () => {
  held.hold(A, 60, 'x');
  held.keep(A);
  held.hold(B, 30, 'x');
  held.hold(C, 40, 'y');
  expect([closed, held.bytes]).toEqual([[B], 100]);
});

it('a holder is closed itself when all others are kept', () => {
  held.hold(A, 60, 'x');
  held.keep(A);
  held.hold(B, 50, 'y');
  expect([closed, held.bytes]).toEqual([[B], 60]);
});

it('a holder that is released counts no longer, kept or not', () => {
  held.hold(A, 60, 'x');
  held.keep(A);
  held.hold(B, 40, 'x');
  held.release(A);
  held.release(B);
  held.keep(C);
  held.release(C);
  held.hold(C, BYTES_MAX, 'x');
  expect([closed, held.bytes]).toEqual([[], BYTES_MAX]);
});

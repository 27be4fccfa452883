import { expect, it } from 'vitest';
import { Rejected } from '../../../src/application/errors/rejected.ts';

it('Rejected is named by its class in a stack, and says which rejection it carries', () => {
  const rejected = new Rejected({ kind: 'unauthorized' });
  expect(String(rejected)).toBe('Rejected: unauthorized');
  expect(rejected.rejection).toEqual({ kind: 'unauthorized' });
});

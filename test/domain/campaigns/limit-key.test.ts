import { expect, it } from 'vitest';
import { limitKey } from '../../../src/domain/campaigns/limit-key.ts';

it('the limits of a resource are counted under its id for all live projects, and by itself for each dev project', () => {
  expect(limitKey({ id: 'p1', environment: 'live' }, '104')).toBe('104');
  expect(limitKey({ id: 'p2', environment: 'live' }, '104')).toBe('104');
  expect(limitKey({ id: 'p1', environment: 'dev' }, '104')).toBe('p1/104');
  expect(limitKey({ id: 'p2', environment: 'dev' }, '104')).toBe('p2/104');
});

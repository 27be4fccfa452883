import { expect, it } from 'vitest';
import { isSuccessStatus, isUnclearStatus } from '../../../src/application/ports/provider-http.ts';

it.each([
  [100, false, false],
  [199, false, false],
  [200, true, false],
  [299, true, false],
  [300, false, false],
  [400, false, false],
  [408, false, true],
  [409, false, true],
  [410, false, false],
  [425, false, true],
  [429, false, false],
  [499, false, false],
  [500, false, true],
  [599, false, true],
])(
  'the status %d of a provider says that a request was done: %s, or leaves it open: %s',
  (status, done, open) => {
    expect([isSuccessStatus(status), isUnclearStatus(status)]).toEqual([done, open]);
  },
);

import { describe, expect, it } from 'vitest';
import { isTestNumber, outcomeDigitsOf } from '../../../src/domain/sandbox/test-number.ts';
import { aPhoneNumber } from '../../support/builders.ts';

describe('a test number', () => {
  it.each([
    ['9990000000001', '0001'],
    ['9991234569999', '9999'],
  ])(
    'a test number has thirteen digits from 999 on, and its last four choose the outcome: %s',
    (digits, outcome) => {
      expect(isTestNumber(aPhoneNumber(digits))).toBe(true);
      expect(outcomeDigitsOf(aPhoneNumber(digits))).toBe(outcome);
    },
  );

  it.each(['999000000001', '99900000000001', '9980000000001', '0999000000001', '9647712345678'])(
    'a number of another length or beginning is no test number: %s',
    (digits) => {
      expect(isTestNumber(aPhoneNumber(digits))).toBe(false);
      expect(outcomeDigitsOf(aPhoneNumber(digits))).toBeNull();
    },
  );
});

import { describe, expect, test } from 'vitest';
import {
  canonicalPhoneNumber,
  isDomestic,
  isPhoneNumber,
  type MobileOperator,
  mobileOperatorOf,
} from '../../../src/domain/shared/phone-number.ts';
import { aPhoneNumber } from '../../support/builders.ts';

describe('a phone number', () => {
  test.each([
    ['ten digits', '0123456789', true],
    ['fifteen digits', '012345678901234', true],
    ['nine digits', '012345678', false],
    ['sixteen digits', '0123456789012345', false],
    ['a plus', '+9647712345678', false],
    ['a space', '964 7712345678', false],
    ['a letter', '96477123456x8', false],
    ['a line feed at the end', '9647712345678\n', false],
    ['digits of another script', '٩٦٤٧٧١٢٣٤٥٦٧٨', false],
    ['nothing', '', false],
  ])('a phone number has 10 to 15 digits and nothing else: %s', (_, text, expected) => {
    expect(isPhoneNumber(text)).toBe(expected);
  });
});

test.each<[string, MobileOperator]>([
  ['9647412345678', 'others'],
  ['9647512345678', 'korekTelecom'],
  ['9647612345678', 'others'],
  ['9647712345678', 'asiaCell'],
  ['9647812345678', 'zainIraq'],
  ['9647912345678', 'zainIraq'],
  ['9647012345678', 'others'],
  ['9641234567890', 'others'],
  ['9057712345678', 'others'],
  ['7712345678', 'others'],
])('the number %s belongs to %s', (digits, mobileOperator) => {
  expect(mobileOperatorOf(aPhoneNumber(digits))).toBe(mobileOperator);
});

test.each([
  ['9647712345678', true],
  ['9641234567', true],
  ['9637712345678', false],
  ['9657712345678', false],
  ['0964771234567', false],
])('the number %s is in the home country: %s', (digits, expected) => {
  expect(isDomestic(aPhoneNumber(digits))).toBe(expected);
});

describe('the canonical number of a handset', () => {
  test.each(['9647701234567', '009647701234567', '96407701234567', '07701234567'])(
    'every spelling of a handset has the same canonical number: %s',
    (digits) => {
      expect(canonicalPhoneNumber(aPhoneNumber(digits))).toBe('9647701234567');
    },
  );

  test.each([
    '7701234567',
    '0770123456',
    '077012345678',
    '007701234567',
    '96477012345678',
    '964077012345678',
    '9640612345678',
    '06012345678',
    '009055321234567',
    '905321234567',
    '9990000000001',
  ])('a number that is no other spelling of an Iraqi mobile number stays as it is: %s', (digits) => {
    expect(canonicalPhoneNumber(aPhoneNumber(digits))).toBe(digits);
  });
});

import type { PhoneNumber } from '../shared/phone-number.ts';

/** No country has this calling code, so no mobile operator can route a test number. */
export const TEST_COUNTRY_CODE = '999';

/** The country code, six digits that are free for the test, and four that choose the outcome. */
const TEST_NUMBER_PATTERN = new RegExp(`^${TEST_COUNTRY_CODE}[0-9]{6}([0-9]{4})$`);

export function isTestNumber(phoneNumber: PhoneNumber): boolean {
  return TEST_NUMBER_PATTERN.test(phoneNumber);
}

/** The four digits that choose the outcome; null for an ordinary number. */
export function outcomeDigitsOf(phoneNumber: PhoneNumber): string | null {
  return TEST_NUMBER_PATTERN.exec(phoneNumber)?.[1] ?? null;
}

/** International format without a plus, 10 to 15 digits (specification 2.1). */
export type PhoneNumber = string & { readonly format: 'international digits' };

export const PHONE_NUMBER_DIGITS_MIN = 10;
export const PHONE_NUMBER_DIGITS_MAX = 15;
export const PHONE_NUMBER_PATTERN = new RegExp(
  `^[0-9]{${PHONE_NUMBER_DIGITS_MIN},${PHONE_NUMBER_DIGITS_MAX}}$`,
);

/** In place of a number that was erased. It has the form of a number, and belongs to nobody. */
export const ERASED_NUMBER = '0000000000' as PhoneNumber;

const HOME_COUNTRY_CODE = '964';

export const MOBILE_OPERATORS = ['korekTelecom', 'asiaCell', 'zainIraq', 'others'] as const;
export type MobileOperator = (typeof MOBILE_OPERATORS)[number];

/** Iraq's public numbering plan: the two digits after the country code name the mobile operator. */
const MOBILE_OPERATOR_BY_PREFIX: Readonly<Record<string, MobileOperator>> = {
  '96475': 'korekTelecom',
  '96477': 'asiaCell',
  '96478': 'zainIraq',
  '96479': 'zainIraq',
};
const MOBILE_OPERATOR_PREFIX_DIGITS = 5;

/** What the numbers of a mobile operator begin with; none for `others`. */
export function prefixesOf(mobileOperator: MobileOperator): readonly string[] {
  return Object.keys(MOBILE_OPERATOR_BY_PREFIX).filter(
    (prefix) => MOBILE_OPERATOR_BY_PREFIX[prefix] === mobileOperator,
  );
}

/** The digits of a number as others write it: without a plus, blanks and hyphens. */
export function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, '');
}

export function isPhoneNumber(text: string): text is PhoneNumber {
  return PHONE_NUMBER_PATTERN.test(text);
}

/** A mobile number of the home country in another spelling: `00964…`, `9640…`, or `07…` with 11 digits. */
const OTHER_SPELLING = /^(?:00964|9640|0)(7[0-9]{9})$/;

/** One number for every spelling of a handset's number, so that it has one price and one rate limit. */
export function canonicalPhoneNumber(phoneNumber: PhoneNumber): PhoneNumber {
  // Most numbers are written one way only, and this tells sooner than the pattern.
  if (!phoneNumber.startsWith('0') && !phoneNumber.startsWith('9640')) return phoneNumber;
  return phoneNumber.replace(OTHER_SPELLING, `${HOME_COUNTRY_CODE}$1`) as PhoneNumber;
}

export function isDomestic(phoneNumber: PhoneNumber): boolean {
  return phoneNumber.startsWith(HOME_COUNTRY_CODE);
}

export function mobileOperatorOf(phoneNumber: PhoneNumber): MobileOperator {
  return MOBILE_OPERATOR_BY_PREFIX[phoneNumber.slice(0, MOBILE_OPERATOR_PREFIX_DIGITS)] ?? 'others';
}

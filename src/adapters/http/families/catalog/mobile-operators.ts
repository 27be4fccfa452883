import { MOBILE_OPERATORS, type MobileOperator, prefixesOf } from '../../../../domain/shared/phone-number.ts';

/** The numbers of a mobile operator, for the document. */
export function numbersOf(mobileOperator: MobileOperator): string {
  const prefixes = prefixesOf(mobileOperator);
  return prefixes.length === 0
    ? 'Every other number in Iraq'
    : `Numbers that begin with ${prefixes.join(' or ')}`;
}

/** The names of the mobile operators as a sentence has them. */
export const MOBILE_OPERATOR_NAMES = `${MOBILE_OPERATORS.slice(0, -1).join(', ')} and ${MOBILE_OPERATORS.at(-1)}`;

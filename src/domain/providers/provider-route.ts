import {
  isDomestic,
  type MobileOperator,
  mobileOperatorOf,
  type PhoneNumber,
} from '../shared/phone-number.ts';

/** Which providers of a channel carry the messages to some numbers. */
export interface ProviderRoute {
  /** A number belongs to the route when it begins with one of these digits… */
  readonly prefixes: readonly string[];
  /** …or is of one of these mobile operators at home. A route with neither is for every number. */
  readonly operators: readonly MobileOperator[];
  /** Names of providers, in the order they are tried. */
  readonly providers: readonly string[];
}

/** The providers of the first route that a number belongs to; none when it belongs to no route. */
export function providersFor(routes: readonly ProviderRoute[], phoneNumber: PhoneNumber): readonly string[] {
  return routes.find((route) => belongs(route, phoneNumber))?.providers ?? [];
}

function belongs({ prefixes, operators }: ProviderRoute, phoneNumber: PhoneNumber): boolean {
  if (prefixes.length === 0 && operators.length === 0) return true;
  return (
    prefixes.some((prefix) => phoneNumber.startsWith(prefix)) ||
    (isDomestic(phoneNumber) && operators.includes(mobileOperatorOf(phoneNumber)))
  );
}

import { describe, expect, it } from 'vitest';
import { type ProviderRoute, providersFor } from '../../../src/domain/providers/provider-route.ts';
import { aPhoneNumber } from '../../support/builders.ts';

const route = (given: Partial<ProviderRoute>): ProviderRoute => ({
  prefixes: [],
  operators: [],
  providers: [],
  ...given,
});

const ROUTES = [
  route({ operators: ['asiaCell'], providers: ['asiacell', 'gateway'] }),
  route({ prefixes: ['96475', '90'], providers: ['korek'] }),
  route({ prefixes: ['964'], providers: ['gateway'] }),
];

describe('providersFor', () => {
  it.each([
    ['9647701234567', ['asiacell', 'gateway']],
    ['9647501234567', ['korek']],
    ['905301234567', ['korek']],
    ['9647801234567', ['gateway']],
    ['491701234567', []],
  ])('providersFor sends %s by the first route that it belongs to', (phoneNumber, providers) => {
    expect(providersFor(ROUTES, aPhoneNumber(phoneNumber))).toEqual(providers);
  });

  it('providersFor takes a route without prefixes and operators for every number', () => {
    expect(providersFor([route({ providers: ['any'] })], aPhoneNumber('491701234567'))).toEqual(['any']);
  });

  it('providersFor takes no foreign number for one of a mobile operator at home', () => {
    const others = [route({ operators: ['others'], providers: ['rest'] })];
    expect(providersFor(others, aPhoneNumber('491701234567'))).toEqual([]);
    expect(providersFor(others, aPhoneNumber('9647101234567'))).toEqual(['rest']);
  });
});

import { expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../src/domain/access/project.ts';

it('gives a new project five sends in ten minutes, any address, quoted prices and Arabic texts', () => {
  expect(DEFAULT_SETTINGS).toEqual({
    rateLimit: { maxRequests: 5, timeWindowMinutes: 10 },
    addressRateLimit: null,
    allowedIps: [],
    ipRuleScope: 'resources',
    settlement: 'quoted',
    billingUnits: 'flat140',
    language: 'ar',
    attemptTimeoutMs: { verification: 30_000, other: 300_000 },
    retention: null,
    lowCredit: null,
  });
});

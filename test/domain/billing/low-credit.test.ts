import { describe, expect, it } from 'vitest';
import type { Account } from '../../../src/domain/billing/account.ts';
import {
  armsLowCredit,
  changedLowCredit,
  isSameLowCredit,
  type LowCredit,
  lowCreditNotice,
} from '../../../src/domain/billing/low-credit.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anAccount, aSealedSecret, NOW } from '../../support/builders.ts';

const BELOW_1000: LowCredit = {
  amount: iqd(1_000),
  webhookUrl: 'https://shop.example/credit',
  webhookSecret: aSealedSecret('sealed'),
};

const project = { id: 'p', slug: 'souq', settings: { lowCredit: BELOW_1000 } };
const callsForNotice = (before: Account, after: Account): boolean =>
  lowCreditNotice(project, before, after, NOW) !== null;
const withCredit = (balance: number, held = 0) => anAccount({ balance: iqd(balance), held: iqd(held) });

describe('the line of low credit', () => {
  it.each([
    [1_000, 999.999, true],
    [1_080, 920, true],
    [15_000, 0, true],
    [1_080, 1_000, false],
    [15_000, 14_000, false],
    [900, 900, false],
    [800, 900, false],
  ])(
    'a change of the credit from %d to %d IQD calls for a notice below 1,000: %s',
    (before, after, expected) => {
      expect(callsForNotice(withCredit(before), withCredit(after))).toBe(expected);
    },
  );

  it('holds lower the credit, so a hold crosses the line', () => {
    expect(callsForNotice(withCredit(2_000, 1_000), withCredit(2_000, 1_080))).toBe(true);
  });

  it('a credit that is low when the setting is made calls for a notice with the next hold', () => {
    expect(callsForNotice(withCredit(500), withCredit(500, 80))).toBe(true);
  });

  it('a notice that was given is not given again until it is armed', () => {
    const noticed = { ...withCredit(1_000), lowCreditNoticedAt: NOW };
    expect(callsForNotice(noticed, { ...noticed, held: iqd(80) })).toBe(false);
  });

  it('a postpaid project, and one without the setting, never cross the line', () => {
    const postpaid = anAccount({ paymentType: 'postpaid', balance: iqd(1_000) });
    expect(callsForNotice(postpaid, { ...postpaid, held: iqd(80) })).toBe(false);
    const without = { ...project, settings: { lowCredit: null } };
    expect(lowCreditNotice(without, withCredit(1_000), withCredit(0), NOW)).toBeNull();
  });

  it('a notice has the credit that the crossing left', () => {
    expect(lowCreditNotice(project, withCredit(1_000), withCredit(1_000, 80), NOW)).toEqual({
      projectId: 'p',
      slug: 'souq',
      credit: iqd(920),
      lowCredit: BELOW_1000,
      at: NOW,
    });
  });
});

describe('arming the notice of low credit', () => {
  const noticed = (balance: number) => ({ ...withCredit(balance), lowCreditNoticedAt: NOW });

  it('credit at the amount arms the notice again, and credit below it does not', () => {
    expect(armsLowCredit(noticed(1_000), BELOW_1000)).toBe(true);
    expect(armsLowCredit(noticed(999.999), BELOW_1000)).toBe(false);
  });

  it('a setting that is off arms the notice again', () => {
    expect(armsLowCredit(noticed(0), null)).toBe(true);
  });

  it('a notice that is armed already is not armed again', () => {
    expect(armsLowCredit(withCredit(15_000), BELOW_1000)).toBe(false);
    expect(armsLowCredit(withCredit(15_000), null)).toBe(false);
  });
});

describe('a change of the setting', () => {
  const unsigned = { ...BELOW_1000, webhookSecret: null };

  it('a change without a secret keeps the stored one while the address stays', () => {
    const given = { ...unsigned, amount: iqd(2_000) };
    expect(changedLowCredit(BELOW_1000, given)).toEqual({ ...given, webhookSecret: aSealedSecret('sealed') });
  });

  it('the stored secret does not go to another address', () => {
    const given = { ...unsigned, webhookUrl: 'https://other.example/credit' };
    expect(changedLowCredit(BELOW_1000, given)).toEqual(given);
  });

  it('a new secret replaces the stored one, and off ends it', () => {
    const given = { ...BELOW_1000, webhookSecret: aSealedSecret('sealed anew') };
    expect(changedLowCredit(BELOW_1000, given)).toEqual(given);
    expect(changedLowCredit(BELOW_1000, null)).toBeNull();
    expect(changedLowCredit(null, unsigned)).toEqual(unsigned);
  });

  it('two settings are the same when amount, address and secret are', () => {
    expect(isSameLowCredit(BELOW_1000, { ...BELOW_1000 })).toBe(true);
    expect(isSameLowCredit(null, null)).toBe(true);
    expect(isSameLowCredit(BELOW_1000, null)).toBe(false);
    for (const change of [
      { amount: iqd(1) },
      { webhookUrl: 'https://a.example/' },
      { webhookSecret: aSealedSecret('b') },
    ]) {
      expect(isSameLowCredit(BELOW_1000, { ...BELOW_1000, ...change })).toBe(false);
    }
  });
});

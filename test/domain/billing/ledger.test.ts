import { describe, expect, it, test } from 'vitest';
import {
  correctionEntry,
  deltasOf,
  depositEntry,
  describeDifference,
  differencesOf,
  holdEntry,
  settlementEntry,
  thresholdResetEntry,
} from '../../../src/domain/billing/ledger.ts';
import { iqd, money, ZERO } from '../../../src/domain/shared/money.ts';
import { anSmsId, NOW } from '../../support/builders.ts';

const SMS_ID = anSmsId(7);
const OCCURRENCE = { projectId: 'p1', reference: SMS_ID, at: NOW };
const COMMON = { projectId: 'p1', reference: SMS_ID, createdAt: NOW };

describe('entries', () => {
  it('a deposit adds to the balance', () => {
    expect(depositEntry({ ...OCCURRENCE, reference: 'topup-1' }, iqd(100))).toEqual({
      id: 'topup-1/deposit',
      projectId: 'p1',
      kind: 'deposit',
      reference: 'topup-1',
      balanceDelta: iqd(100),
      heldDelta: 0,
      spentDelta: 0,
      createdAt: NOW,
    });
  });

  test.each([
    ['adds to', 25],
    ['takes from', -25],
  ])('a correction %s the balance only', (_, amount) => {
    expect(correctionEntry({ ...OCCURRENCE, reference: 'correction-1' }, iqd(amount))).toEqual({
      id: 'correction-1/correction',
      projectId: 'p1',
      kind: 'correction',
      reference: 'correction-1',
      balanceDelta: iqd(amount),
      heldDelta: 0,
      spentDelta: 0,
      createdAt: NOW,
    });
  });

  it('a hold adds to what is held and leaves the balance', () => {
    expect(holdEntry(OCCURRENCE, iqd(80))).toEqual({
      ...COMMON,
      id: `${SMS_ID}/hold`,
      kind: 'hold',
      balanceDelta: 0,
      heldDelta: iqd(80),
      spentDelta: 0,
    });
  });

  test.each([
    ['takes all', 80, { balanceDelta: iqd(-80), heldDelta: iqd(-80), spentDelta: iqd(80) }],
    ['takes a part', 60, { balanceDelta: iqd(-60), heldDelta: iqd(-80), spentDelta: iqd(60) }],
    ['gives all back', 0, { balanceDelta: 0, heldDelta: iqd(-80), spentDelta: 0 }],
  ])('a settlement %s', (_, taken, deltas) => {
    expect(settlementEntry(OCCURRENCE, iqd(80), iqd(taken))).toEqual({
      ...COMMON,
      id: `${SMS_ID}/settlement`,
      kind: 'settlement',
      ...deltas,
    });
  });

  it('a settlement captures neither more than was held nor less than zero', () => {
    expect(() => settlementEntry(OCCURRENCE, iqd(80), money(80_001))).toThrow('at most what was held');
    expect(() => settlementEntry(OCCURRENCE, iqd(80), money(-1))).toThrow('at most what was held');
  });

  it('a threshold reset sets what was counted to zero', () => {
    expect(thresholdResetEntry({ ...OCCURRENCE, reference: 'reset-1' }, iqd(500))).toMatchObject({
      id: 'reset-1/threshold-reset',
      kind: 'threshold-reset',
      balanceDelta: 0,
      heldDelta: 0,
      spentDelta: iqd(-500),
    });
  });

  it('entries have one id for one cause and kind, and another for any other', () => {
    const ids = [
      holdEntry(OCCURRENCE, iqd(1)).id,
      settlementEntry(OCCURRENCE, iqd(1), iqd(1)).id,
      holdEntry({ ...OCCURRENCE, reference: anSmsId(8) }, iqd(1)).id,
    ];
    expect(new Set(ids).size).toBe(3);
    expect(settlementEntry({ ...OCCURRENCE, at: NOW + 1 }, iqd(9), ZERO).id).toBe(ids[1]);
  });
});

describe('sums', () => {
  it('the sums of entries are one per project, in the order of ids', () => {
    const entries = [
      holdEntry({ ...OCCURRENCE, projectId: 'p2' }, iqd(5)),
      depositEntry({ ...OCCURRENCE, projectId: 'p1' }, iqd(100)),
      holdEntry({ ...OCCURRENCE, projectId: 'p1' }, iqd(80)),
      settlementEntry({ ...OCCURRENCE, projectId: 'p1' }, iqd(80), iqd(60)),
    ];
    expect(deltasOf(entries)).toEqual([
      { projectId: 'p1', balance: iqd(40), held: 0, spent: iqd(60) },
      { projectId: 'p2', balance: 0, held: iqd(5), spent: 0 },
    ]);
  });

  it('the sums of entries are in the order of ids when the entries are too', () => {
    const entries = ['p1', 'p3', 'p2'].map((projectId) => depositEntry({ ...OCCURRENCE, projectId }, iqd(1)));
    expect(deltasOf(entries).map(({ projectId }) => projectId)).toEqual(['p1', 'p2', 'p3']);
  });

  it('no entries have no sums', () => {
    expect(deltasOf([])).toEqual([]);
  });
});

describe('the audit', () => {
  const entries = { projectId: 'p1', balance: iqd(40), held: iqd(5), spent: iqd(60) };

  it('an account that is the sum of its entries has no differences', () => {
    expect(differencesOf({ ...entries }, entries)).toEqual([]);
  });

  test.each(['balance', 'held', 'spent'] as const)(
    'a difference names the column %s with both amounts',
    (column) => {
      expect(differencesOf({ ...entries, [column]: money(1) }, entries)).toEqual([
        { projectId: 'p1', column, account: money(1), entries: entries[column] },
      ]);
    },
  );

  it('a difference is described in IQD', () => {
    const difference = { projectId: 'p1', column: 'held', account: money(1_500), entries: iqd(5) } as const;
    expect(describeDifference(difference)).toBe('project p1: held is 1.5 IQD, its entries say 5 IQD');
  });

  it('a difference is found in either direction', () => {
    expect(differencesOf({ ...entries, held: iqd(6) }, entries)).toHaveLength(1);
    expect(differencesOf({ ...entries, held: iqd(4) }, entries)).toHaveLength(1);
  });
});

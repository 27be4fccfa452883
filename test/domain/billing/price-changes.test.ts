import { describe, expect, it } from 'vitest';
import { compareRows, RowComparison, rowChanges } from '../../../src/domain/billing/price-changes.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anInternationalPrice } from '../../support/builders.ts';

const row = anInternationalPrice;

describe('what an import changes', () => {
  it('a row is changed when price or names differ, and another row when country, code, network id or MCC-MNC do', () => {
    expect(rowChanges([row()], [row()])).toEqual([]);
    for (const changed of [
      row({ price: iqd(120.001) }),
      row({ network: 'Other' }),
      row({ country: 'Türkiye' }),
      row({ continent: 'Europe' }),
    ]) {
      expect(rowChanges([row()], [changed])).toEqual([{ before: row(), after: changed }]);
    }
    for (const other of [
      row({ countryIso: 'CY' }),
      row({ countryCode: '9' }),
      row({ networkId: 'x' }),
      row({ mccMnc: '28602' }),
    ]) {
      expect(rowChanges([row()], [other])).toEqual([
        { before: null, after: other },
        { before: row(), after: null },
      ]);
    }
  });

  it('rows that stand several times are compared one by one', () => {
    const twice = [row({ price: iqd(1) }), row({ price: iqd(2) })];
    expect(rowChanges(twice, twice)).toEqual([]);
    expect(rowChanges(twice, [row({ price: iqd(1) })])).toEqual([
      { before: row({ price: iqd(2) }), after: null },
    ]);
  });

  it('of three rows with one key the second and the third are compared with the second and the third', () => {
    const first = row({ price: iqd(1) });
    const second = row({ price: iqd(2) });
    const third = row({ price: iqd(3) });
    const other = row({ mccMnc: '28602' });
    expect(rowChanges([first, second, other, third, other], [first, second, third, other, other])).toEqual(
      [],
    );
    expect(rowChanges([first, second, third], [first, third, second])).toEqual([
      { before: second, after: third },
      { before: third, after: second },
    ]);
    expect(rowChanges([first], [first, second, third])).toEqual([
      { before: null, after: second },
      { before: null, after: third },
    ]);
  });

  it('a comparison counts the rows of all countries, and keeps the first that differ', () => {
    const one = row({ networkId: '1' });
    const two = row({ networkId: '2' });
    const three = row({ networkId: '3' });
    const dearer = row({ networkId: '2', price: iqd(500) });
    const comparison = new RowComparison({ rowsMax: 3 });
    comparison.add([one, two], [one, dearer, three]);
    comparison.add([one, two], [three]);
    const same = [one, two, three];
    comparison.add(same, same);
    expect(comparison.result()).toEqual({
      added: 2,
      removed: 2,
      changed: 1,
      unchanged: 4,
      rows: [
        { before: two, after: dearer },
        { before: null, after: three },
        { before: null, after: three },
      ],
    });
    expect(new RowComparison({ rowsMax: 3 }).result()).toEqual({
      added: 0,
      removed: 0,
      changed: 0,
      unchanged: 0,
      rows: [],
    });
  });

  it('rows of a country are ordered by MCC-MNC, then by network, upper case before lower case', () => {
    const rows = [
      row({ mccMnc: '2', network: 'a' }),
      row({ mccMnc: '1', network: 'a' }),
      row({ mccMnc: '1', network: 'B' }),
    ];
    expect(rows.toSorted(compareRows).map(({ mccMnc, network }) => mccMnc + network)).toEqual([
      '1B',
      '1a',
      '2a',
    ]);
    expect(compareRows(row(), row())).toBe(0);
  });

  it('the order of two rows is the same from either side', () => {
    const lower = row({ mccMnc: '28601', network: 'b' });
    const higher = row({ mccMnc: '28602', network: 'a' });
    expect(compareRows(lower, higher)).toBe(-1);
    expect(compareRows(higher, lower)).toBe(1);
  });
});

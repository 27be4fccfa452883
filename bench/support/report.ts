import { printTable } from '../../test/support/table.ts';
import type { Bench } from './bench.ts';
import { type Measured, median } from './rounds.ts';

export interface Row {
  readonly label: string;
  /** One for each checkout, or a single one for a row that is no part of the service. */
  readonly measured: readonly Measured[];
}

/** A column of ratios: how often a row fits into another. */
export interface RatioColumn {
  readonly header: string;
  readonly of: Row;
}

/** Prints the rows, and notes how each compares with the other checkout if there is one. */
export function printRows(
  bench: Bench,
  title: string,
  columns: readonly RatioColumn[],
  rows: readonly Row[],
): void {
  printTable([
    [title, 'per second', 'p50 ms', 'p99 ms', ...columns.map(({ header }) => header)],
    ...rows.flatMap(({ label, measured }) =>
      measured.map((each, index) => [
        index === 0 ? label : `    ${bench.checkouts[index]?.label}`,
        each.perSecond.toFixed(0),
        each.p50?.toFixed(1) ?? '',
        each.p99?.toFixed(1) ?? '',
        ...columns.map(({ of }) => (each.perSecond / rateOf(of, index)).toFixed(2)),
      ]),
    ),
  ]);
  for (const { label, measured } of rows) {
    const [here, other] = measured;
    if (here !== undefined && other !== undefined)
      bench.compare(label, pairedRatio(here.rounds, other.rounds));
  }
}

/** Messages or requests per second of a row, in the checkout at that index. */
export function rateOf({ measured }: Row, index = 0): number {
  return (measured[index] ?? measured[0])?.perSecond ?? 0;
}

/** The median ratio of the rounds: both rates of a round met the same neighbours on the machine. */
export function pairedRatio(rates: readonly number[], others: readonly number[]): number {
  return median(rates.map((rate, round) => rate / (others[round] ?? Number.NaN)));
}

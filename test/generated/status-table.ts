import { printTable } from '../support/table.ts';
import type { StatusTable } from './generated-run.ts';

export function requestsIn(table: StatusTable): number {
  return [...table.values()]
    .flatMap((statuses) => [...statuses.values()])
    .reduce((sum, count) => sum + count, 0);
}

/** Prints how often each operation replied with each status. */
export function printStatuses(table: StatusTable, ms: number, firstSeed: number): void {
  const statuses = [...new Set([...table.values()].flatMap((counts) => [...counts.keys()]))].sort(
    (a, b) => a - b,
  );
  console.log(`${requestsIn(table)} requests in ${(ms / 1000).toFixed(0)} s, GENERATED_SEED=${firstSeed}`);
  printTable([
    ['operation', ...statuses.map((status) => (status === 0 ? 'cut' : String(status)))],
    ...[...table]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([id, counts]) => [id, ...statuses.map((status) => String(counts.get(status) ?? ''))]),
  ]);
}

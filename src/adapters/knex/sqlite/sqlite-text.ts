import type { BatchQuery, Parameter, Value } from '../driver/connection.ts';

/**
 * Lists arrive as JSON, and a transaction that holds the only write lock needs no row locks. SQLite compiles a statement anew
 * whenever a parameter that stands alone after LIMIT was bound, to plan with its value: that took half of a lookup's time.
 */
export function inSqlite(sql: string): string {
  return sql
    .replaceAll('= ANY(?)', 'IN (SELECT value FROM json_each(?))')
    .replace(/\bFOR (NO KEY )?(UPDATE( SKIP LOCKED)?|SHARE)/g, '')
    .replace(/\bLIMIT \?/g, 'LIMIT ? + 0');
}

/** What a parameter is for SQLite. */
export function toValue(parameter: Parameter): Value {
  return typeof parameter === 'object' && parameter !== null ? JSON.stringify(parameter) : parameter;
}

/** A batch query with a place for each parameter, and the columns of the keys in the order of the places. */
export function batchText({ select }: BatchQuery<string>): {
  readonly sql: string;
  readonly names: readonly string[];
} {
  const names: string[] = [];
  const sql = select.replace(/:(\w+)/g, (_, name: string) => {
    names.push(name);
    return '?';
  });
  return { sql, names };
}

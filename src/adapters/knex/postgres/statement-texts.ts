import {
  type BatchQuery,
  columnNames,
  type Insert,
  type Removal,
  type Row,
  type RowOf,
  type Update,
  type VersionedUpdate,
} from '../driver/connection.ts';

/*
 * The SQL of bulk statements. The rows of each are its one parameter, a list in JSON.
 */

/** Texts are ordered by their bytes, as in the keys of the tables, whatever the order of the database is. */
const TYPES: Readonly<Record<string, string>> = { text: 'text COLLATE "C"' };

/** The column that ties a row of a batch query to its key. */
const ORDINAL = 'ordinal';

/** Inserts the rows in the order that the declaration says. */
export function insertText<Name extends string>({
  table,
  columns,
  orderBy,
  onConflict,
}: Insert<Name>): string {
  const names = columnNames(columns);
  return `INSERT INTO ${table} (${names})
    SELECT ${names} FROM ${recordset(columns)} ORDER BY ${[orderBy].flat().join()} ${onConflict ?? ''}`;
}

/** Changes the rows that the table has. */
export function updateText<Key extends string, Changed extends string>(update: Update<Key, Changed>): string {
  const { table, mode } = update;
  const changes = Object.keys(update.columns).map((name) =>
    mode === 'add' ? `${name} = ${table}.${name} + locked.${name}` : `${name} = locked.${name}`,
  );
  return `WITH ${locked(table, update.key, update.columns)}
    UPDATE ${table} SET ${changes.join(', ')}
    FROM locked WHERE ${equalities(table, Object.keys(update.key), 'locked')}`;
}

/** Changes the rows that the table has, makes their versions higher and returns their keys. */
export function versionedUpdateText<Key extends string, Changed extends string>(
  update: VersionedUpdate<Key, Changed>,
): string {
  const { table, version } = update;
  const key = Object.keys(update.key);
  const changes = Object.keys(update.columns).map((name) => `${name} = locked.${name}`);
  return `WITH ${locked(table, update.key, update.columns)}
    UPDATE ${table} SET ${changes.join(', ')}, ${version} = ${table}.${version} + 1
    FROM locked WHERE ${equalities(table, key, 'locked')}
    RETURNING ${key.map((name) => `locked.${name}`).join(', ')}`;
}

/** Removes the rows that the table has and returns their keys. */
export function removalText<Key extends string>(removal: Removal<Key>): string {
  const { table } = removal;
  const key = Object.keys(removal.key);
  return `WITH ${locked(table, removal.key, {})}
    DELETE FROM ${table} USING locked WHERE ${equalities(table, key, 'locked')}
    RETURNING ${key.map((name) => `${table}.${name}`).join(', ')}`;
}

/** Selects for each key, with the column that `rowsByKey` reads. */
export function batchQueryText<Name extends string>(batch: BatchQuery<Name>): string {
  const select = batch.select.replace(/:(\w+)/g, 'keys.$1');
  const names = columnNames(batch.columns);
  const given = `ROWS FROM (${recordset(batch.columns, '')}) WITH ORDINALITY AS keys (${names}, ${ORDINAL})`;
  // OFFSET forces one search per key: the planner knows no statistics of the keys and would join tables instead.
  return `SELECT keys.${ORDINAL}, found.* FROM ${given} CROSS JOIN LATERAL (${select} OFFSET 0) AS found`;
}

/** The rows of each key of a batch query, in the order of the keys. */
export function rowsByKey(rows: readonly Row[], keys: number): readonly Row[][] {
  const found = Array.from({ length: keys }, (): Row[] => []);
  for (const row of rows) found[(row[ORDINAL] as number) - 1]?.push(row);
  return found;
}

/** For each row whether its key was returned; of equal ones only the first. */
export function foundAmong<Key extends string>(
  rows: readonly RowOf<Key>[],
  key: readonly Key[],
  returned: readonly Row[],
): readonly boolean[] {
  const identity = (row: Row) => JSON.stringify(key.map((name) => row[name]));
  const found = new Set(returned.map(identity));
  return rows.map((row) => found.delete(identity(row)));
}

/** The statement with numbered parameters in place of question marks. */
export function inPostgres(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => {
    count += 1;
    return `$${count}`;
  });
}

function recordset(columns: Readonly<Record<string, string>>, alias = 'given'): string {
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${TYPES[type] ?? type}`);
  return `json_to_recordset(?) AS ${alias} (${typed.join(', ')})`;
}

/**
 * The given rows that the table has, locked one after the other in the order of the key. They carry what is given: a second
 * join with that would compare each row with each, as the planner thinks them few.
 */
function locked(
  table: string,
  key: Readonly<Record<string, string>>,
  columns: Readonly<Record<string, string>>,
): string {
  const names = Object.keys(key);
  const order = names.map((name) => `${table}.${name}`).join(', ');
  return `locked AS (
      SELECT given.* FROM ${table} JOIN ${recordset({ ...key, ...columns })} ON ${equalities(table, names, 'given')}
      ORDER BY ${order} FOR UPDATE OF ${table})`;
}

function equalities(table: string, names: readonly string[], other: string): string {
  return names.map((name) => `${table}.${name} = ${other}.${name}`).join(' AND ');
}

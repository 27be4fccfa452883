/** One page of a list. */
export interface ListPage<Row, Place> {
  readonly rows: readonly Row[];
  /** The next page begins behind it; null after the last one. A page may be short, or empty, and yet have a next one. */
  readonly next: Place | null;
}

interface Walk<Row, Place> {
  /** Up to `limit` rows behind a place, in the order of the list. */
  readonly read: (after: Place | null, limit: number) => Promise<ListPage<Row, Place>>;
  readonly placeOf: (row: Row) => Place;
  readonly matches: (row: Row) => boolean;
  readonly after: Place | null;
  readonly limit: number;
  /** Whether most rows match, so that little more than a page is read. */
  readonly isDense: boolean;
}

/** Rows of one read. Other work goes on between two reads. */
const ROWS_PER_READ = 500;
/** Reads of one page. */
const READS_PER_PAGE = 2;
/** More rows are never read for a request. */
export const ROWS_PER_PAGE_MAX = ROWS_PER_READ * READS_PER_PAGE;

/** Reads a list until a page is full, the list is over, or `ROWS_PER_PAGE_MAX` rows are read. */
export async function walkPage<Row, Place>(walk: Walk<Row, Place>): Promise<ListPage<Row, Place>> {
  const { read, placeOf, matches, limit, isDense } = walk;
  const size = isDense ? limit + 1 : ROWS_PER_READ;
  const found: Row[] = [];
  let place = walk.after;
  for (let reads = 0; reads < READS_PER_PAGE; reads += 1) {
    const { rows, next } = await read(place, size);
    for (const row of rows) {
      if (!matches(row)) continue;
      if (found.length === limit) {
        const last = found.at(-1);
        return { rows: found, next: last === undefined ? null : placeOf(last) };
      }
      found.push(row);
    }
    place = next;
    if (place === null) break;
  }
  return { rows: found, next: place };
}

/** One read of a walk: the next `limit` rows of the list. Fewer rows are its end. */
export function sliceOf<Row, Place>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => Place,
): ListPage<Row, Place> {
  const last = rows.at(-1);
  return { rows, next: last === undefined || rows.length < limit ? null : placeOf(last) };
}

/** A page of up to `limit` of the rows found. It is the last one unless more than `limit` were found. */
export function cutPage<Row, Place>(
  found: readonly Row[],
  limit: number,
  placeOf: (row: Row) => Place,
): ListPage<Row, Place> {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? null : placeOf(last) };
}

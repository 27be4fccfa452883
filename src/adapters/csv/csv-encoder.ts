import { stringify } from 'csv-stringify/sync';
import type { CsvEncoder } from '../../application/ports/csv-encoder.ts';

/**
 * By itself the library quotes a cell with CR LF, but none with CR or LF alone, which some readers take for the end of a line.
 */
const OPTIONS = { record_delimiter: '\r\n', escape_formulas: true, quoted_match: /[\r\n]/ } as const;

/** Csv in UTF-8 without a byte order mark. */
export const csvEncoder: CsvEncoder = (rows) => stringify(rows as string[][], OPTIONS);

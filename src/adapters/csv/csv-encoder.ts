import { stringify } from 'csv-stringify/sync';
import type { CsvEncoder } from '../../application/ports/csv-encoder.ts';

const OPTIONS = { record_delimiter: '\r\n', escape_formulas: true } as const;

/** Csv in UTF-8 without a byte order mark. */
export const csvEncoder: CsvEncoder = (rows) => stringify(rows as string[][], OPTIONS);

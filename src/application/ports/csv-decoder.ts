/** One record of a csv file, and the line at which it ends, counted from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * The records of a csv file in UTF-8 (RFC 4180), in batches, so that a reader can let other work run in between. A byte order
 * mark and empty lines are left out. Throws `InvalidCsv` at what is no csv.
 */
export type CsvDecoder = (bytes: Buffer) => AsyncIterable<readonly CsvRecord[]>;

/** What makes a file no csv, such as a quote without an end. */
export class InvalidCsv extends Error {
  readonly line: number;

  constructor(problem: string, line: number) {
    super(problem);
    this.name = 'InvalidCsv';
    this.line = line;
  }
}

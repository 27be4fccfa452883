import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { nextRound } from '../../application/concurrency/next-round.ts';
import { type CsvDecoder, type CsvRecord, InvalidCsv } from '../../application/ports/csv-decoder.ts';

/** What is parsed at once, in bytes: less than a millisecond of work. */
const CHUNK_BYTES = 32 * 1024;
const RECORDS_PER_BATCH = 500;
const RECORD_CHARACTERS_MAX = 10_000;
const RECORD_COMMAS_MAX = 1_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

const OPTIONS = {
  bom: true,
  info: true,
  // By itself the library takes the first line end for that of the whole file.
  record_delimiter: ['\r\n', '\n', '\r'] as string[],
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: RECORD_CHARACTERS_MAX,
} as const;

interface Parsed {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** Csv by csv-parse. Other work may run after each chunk, also when a file has no records. */
export const csvDecoder: CsvDecoder = async function* decode(bytes) {
  const parser = parse(OPTIONS);
  const chunks = Readable.from(chunksOf(bytes));
  chunks.on('error', (error) => parser.destroy(error)).pipe(parser);
  let batch: CsvRecord[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      batch.push({ line: info.lines, cells: record });
      if (batch.length < RECORDS_PER_BATCH) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as { readonly lines?: unknown };
    throw new InvalidCsv(problemOf(error.code), typeof lines === 'number' ? lines : 1);
  }
  if (batch.length > 0) yield batch;
};

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  const limit = new CommaLimit();
  for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) {
    const chunk = bytes.subarray(offset, offset + CHUNK_BYTES);
    limit.check(chunk);
    yield chunk;
    await nextRound();
  }
}

/** Rejects a row of very many cells. The library counts no commas, and would keep a cell in memory for each of them. */
class CommaLimit {
  #commas = 0;
  #isQuoted = false;
  #line = 1;

  /** Throws `InvalidCsv`. The chunks come in their order. */
  check(chunk: Buffer): void {
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === LINE_FEED || byte === CARRIAGE_RETURN) this.#endLine(byte);
      else if (byte === COMMA && !this.#isQuoted) this.#count();
    }
  }

  #endLine(byte: number): void {
    if (byte === LINE_FEED) this.#line += 1;
    if (!this.#isQuoted) this.#commas = 0;
  }

  #count(): void {
    this.#commas += 1;
    if (this.#commas <= RECORD_COMMAS_MAX) return;
    throw new InvalidCsv(`a row has more than ${RECORD_COMMAS_MAX} commas`, this.#line);
  }
}

function problemOf(code: string): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quoted cell has no end';
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
      return 'a quote stands inside a cell: quote the cell, and double the quote';
    case 'CSV_MAX_RECORD_SIZE':
      return `a row has more than ${RECORD_CHARACTERS_MAX} characters`;
    default:
      return 'this is no csv';
  }
}

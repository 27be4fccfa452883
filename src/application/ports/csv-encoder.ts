/**
 * Rows as lines of csv (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe, which
 * makes it a text.
 */
export type CsvEncoder = (rows: readonly (readonly string[])[]) => string;

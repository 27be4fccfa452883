import { ResponseTooLong } from './connection-errors.ts';

/** The most header lines in a row of one response: of a head or of trailers without an end each is held in memory. */
export const HEADER_LINES_MAX = 200;

const LINE_FEED = 0x0a;
const TAB = 0x09;
const BLANK = 0x20;
const COLON = 0x3a;

/**
 * Counts header lines in a row, in what a peer sends: lines with a colon. That is all that a parser of HTTP may hold of a
 * head or of trailers that have no end. A line without a colon ends the row: it is the first line of a response, the length of
 * a chunk, the end of a head, or an error. A line that begins with a blank belongs to the one before it. So lines of bodies
 * are counted only where they are like headers.
 */
export class HeaderLines {
  #inRow = 0;
  #isAtStart = true;
  #isContinued = false;
  #hasColon = false;

  /** Those up to the end of what was read. */
  get inRow(): number {
    return this.#inRow;
  }

  /** Why the connection ends; null while there are at most `HEADER_LINES_MAX`. */
  get error(): ResponseTooLong | null {
    if (this.#inRow <= HEADER_LINES_MAX) return null;
    return new ResponseTooLong(`More than ${HEADER_LINES_MAX} header lines in a row`);
  }

  /** A new response begins. */
  reset(): void {
    this.#inRow = 0;
    this.#beginLine();
  }

  read(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === LINE_FEED) this.#endLine();
      else {
        if (this.#isAtStart) this.#isContinued = byte === BLANK || byte === TAB;
        this.#isAtStart = false;
        this.#hasColon ||= byte === COLON;
      }
    }
  }

  #endLine(): void {
    if (!this.#isContinued) this.#inRow = this.#hasColon ? this.#inRow + 1 : 0;
    this.#beginLine();
  }

  #beginLine(): void {
    this.#isAtStart = true;
    this.#isContinued = false;
    this.#hasColon = false;
  }
}

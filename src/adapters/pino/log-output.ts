import type { Writable } from 'node:stream';
import type { LogEvent } from '../../application/ports/logger.ts';

/** Lines that wait for a reader take this much memory at most; the lines after them are dropped. */
export const LOG_WAITING_BYTES_MAX = 1024 * 1024;

const DROPPED: LogEvent = 'log_lines_dropped';

/**
 * Writes log lines to a stream and never waits for its reader. Lines wait in memory while nobody reads, and are dropped
 * beyond `LOG_WAITING_BYTES_MAX`, or when a write fails, as to a file on a full disk. When lines can be written again,
 * one line tells how many are missing, at the place where they are missing.
 */
export class LogOutput {
  readonly #stream: Writable;
  #isListening = false;
  /** From the first line that is dropped until every waiting one is read: so all missing lines are missing in one place. */
  #isFull = false;
  #dropped = 0;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** `line` ends with a line feed. */
  write(line: string): void {
    this.#listen();
    if (this.#stream.writableLength + Buffer.byteLength(line) > LOG_WAITING_BYTES_MAX) this.#isFull = true;
    if (this.#isFull) this.#dropped += 1;
    else if (this.#dropped > 0) this.#tell(line);
    else this.#stream.write(line, (error) => this.#written(error, 1));
  }

  /** Begins on a line of its own: the write that failed may have written part of a line. */
  #tell(next = ''): void {
    const lines = this.#dropped;
    this.#dropped = 0;
    const told = { level: 'warn', time: new Date().toISOString(), lines, event: DROPPED };
    this.#stream.write(`\n${JSON.stringify(told)}\n${next}`, (error) =>
      this.#written(error, next === '' ? lines : lines + 1),
    );
  }

  #written(error: Error | null | undefined, lines: number): void {
    if (error) this.#dropped += lines;
  }

  /** Not before the first line: a program that uses the harness and its silent log keeps its own output as it was. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    // Each write is told of its own error.
    this.#stream.on('error', () => undefined);
    this.#stream.on('drain', () => {
      if (!this.#isFull) return;
      this.#isFull = false;
      this.#tell();
    });
  }
}

let standardOutput: LogOutput | null = null;

/** The output of every logger of the process. To a pipe Node writes without waiting; a file or terminal takes a line at once. */
export function standardLogOutput(): LogOutput {
  standardOutput ??= new LogOutput(process.stdout);
  return standardOutput;
}

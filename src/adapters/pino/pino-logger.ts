import { performance } from 'node:perf_hooks';
import { type DestinationStream, pino } from 'pino';
import { StorageUnavailable } from '../../application/errors/storage-unavailable.ts';
import { LineBudget } from '../../application/line-budget.ts';
import type { LogEvent, LogFields, Logger } from '../../application/ports/logger.ts';
import { standardLogOutput } from './log-output.ts';
import { OutageLines } from './outage-lines.ts';

export interface PinoLoggerOptions {
  readonly level: string;
  readonly destination?: DestinationStream;
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs?: () => number;
}

/**
 * One JSON line per event: time, level, event and the fields it was given, nothing else. An outage of the database makes
 * every request and job fail alike, and a caller may cause one fault with each request: of such `error` lines only some are
 * logged, and count the others as `suppressed`. Errors of one event and one name suppress no others.
 */
export class PinoLogger implements Logger {
  readonly #pino: pino.Logger;
  readonly #nowMs: () => number;
  readonly #outageLines: OutageLines;
  /** By event and name of the error. */
  readonly #budgets = new Map<string, LineBudget>();

  constructor({ level, destination, nowMs = () => performance.now() }: PinoLoggerOptions) {
    this.#nowMs = nowMs;
    this.#outageLines = new OutageLines(nowMs);
    const options: pino.LoggerOptions = {
      level,
      base: null,
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    };
    this.#pino = pino(options, destination ?? standardLogOutput());
  }

  get writesDebug(): boolean {
    return this.#pino.isLevelEnabled('debug');
  }

  debug(event: LogEvent, fields: LogFields = {}): void {
    this.#pino.debug(fields, event);
  }

  info(event: LogEvent, fields: LogFields = {}): void {
    this.#pino.info(fields, event);
  }

  warn(event: LogEvent, fields: LogFields = {}): void {
    this.#pino.warn(fields, event);
  }

  error(event: LogEvent, error: unknown, fields: LogFields = {}): void {
    const suppressed = this.#suppressed(event, error);
    if (suppressed === null) return;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#pino.error({ ...fields, ...(suppressed > 0 ? { suppressed } : {}), error: stack }, event);
  }

  /** Null when the error is not logged; else how many of its kind were not since the line before. */
  #suppressed(event: LogEvent, error: unknown): number | null {
    if (error instanceof StorageUnavailable) return this.#outageLines.next(event);
    const kind = `${event} ${error instanceof Error ? error.name : typeof error}`;
    const budget = this.#budgets.get(kind) ?? new LineBudget(this.#nowMs);
    this.#budgets.set(kind, budget);
    return budget.take();
  }
}

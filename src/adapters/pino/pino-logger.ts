import { performance } from 'node:perf_hooks';
import { type DestinationStream, pino } from 'pino';
import { StorageUnavailable } from '../../application/errors/storage-unavailable.ts';
import type { LogEvent, LogFields, Logger } from '../../application/ports/logger.ts';
import { standardLogOutput } from './log-output.ts';
import { OutageLines } from './outage-lines.ts';

/**
 * One JSON line per event: time, level, event and the fields it was given, nothing else. An outage of the database makes
 * every request and job fail alike: only some of those lines are logged, and count the others as `suppressed`.
 */
export class PinoLogger implements Logger {
  readonly #pino: pino.Logger;
  readonly #outageLines = new OutageLines(() => performance.now());

  constructor({ level, destination }: { readonly level: string; readonly destination?: DestinationStream }) {
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
    const suppressed = error instanceof StorageUnavailable ? this.#outageLines.next(event) : 0;
    if (suppressed === null) return;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#pino.error({ ...fields, ...(suppressed > 0 ? { suppressed } : {}), error: stack }, event);
  }
}

import { type DestinationStream, pino } from 'pino';
import type { LogEvent, LogFields, Logger } from '../../application/ports/logger.ts';

/** One JSON line per event: time, level, event and the fields it was given, nothing else. */
export class PinoLogger implements Logger {
  readonly #pino: pino.Logger;

  constructor({ level, destination }: { readonly level: string; readonly destination?: DestinationStream }) {
    const options: pino.LoggerOptions = {
      level,
      base: null,
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    };
    this.#pino = destination === undefined ? pino(options) : pino(options, destination);
  }

  info(event: LogEvent, fields: LogFields = {}): void {
    this.#pino.info(fields, event);
  }

  warn(event: LogEvent, fields: LogFields = {}): void {
    this.#pino.warn(fields, event);
  }

  error(event: LogEvent, error: unknown, fields: LogFields = {}): void {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#pino.error({ ...fields, error: stack }, event);
  }
}

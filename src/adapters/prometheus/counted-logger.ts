import type { LogEvent, LogFields, Logger } from '../../application/ports/logger.ts';
import type { Metrics } from './metrics.ts';

/** Counts log events, also those of a level that is not written. `debug` is not counted: it may come with each request. */
export class CountedLogger implements Logger {
  readonly #inner: Logger;
  readonly #metrics: Metrics;

  constructor(inner: Logger, metrics: Metrics) {
    this.#inner = inner;
    this.#metrics = metrics;
  }

  get writesDebug(): boolean {
    return this.#inner.writesDebug;
  }

  debug(event: LogEvent, fields?: LogFields): void {
    this.#inner.debug(event, fields);
  }

  info(event: LogEvent, fields?: LogFields): void {
    this.#metrics.logEvents.inc({ level: 'info', event });
    this.#inner.info(event, fields);
  }

  warn(event: LogEvent, fields?: LogFields): void {
    this.#metrics.logEvents.inc({ level: 'warn', event });
    this.#inner.warn(event, fields);
  }

  error(event: LogEvent, error: unknown, fields?: LogFields): void {
    this.#metrics.logEvents.inc({ level: 'error', event });
    this.#inner.error(event, error, fields);
  }
}

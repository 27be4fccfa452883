import { delegate } from '../../application/delegate.ts';
import type { LogEvent, Logger } from '../../application/ports/logger.ts';
import type { Metrics } from './metrics.ts';

/**
 * A logger whose events are counted, also those of a level that is not written. `debug` is not counted: it may come with each
 * request.
 */
export function countedLogger(inner: Logger, { logEvents }: Metrics): Logger {
  const count = (level: 'info' | 'warn' | 'error', event: LogEvent) => logEvents.inc({ level, event });
  return delegate(inner, {
    info(event, fields) {
      count('info', event);
      inner.info(event, fields);
    },
    warn(event, fields) {
      count('warn', event);
      inner.warn(event, fields);
    },
    error(event, error, fields) {
      count('error', event);
      inner.error(event, error, fields);
    },
  });
}

import { millisecondsInMinute } from 'date-fns/constants';
import type { Clock } from './ports/clock.ts';
import type { LogEvent, LogFields, Logger } from './ports/logger.ts';

/** An event is logged once in this time. */
export const MINUTE_LOG_INTERVAL_MS = millisecondsInMinute;

interface MinuteLogPorts {
  /** Only differences count: `performance` will do. */
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Counted {
  count: number;
  loggedAt: number | null;
}

/**
 * Logs what others may cause very often: one line a minute for each event, with how many there were since the line before. What
 * is about a provider or a project has one line a minute for each of them, and what is about both for each pair, so that nobody
 * hides what others have.
 */
export class MinuteLog {
  readonly #ports: MinuteLogPorts;
  readonly #events = new Map<string, Counted>();

  constructor(ports: MinuteLogPorts) {
    this.#ports = ports;
  }

  /**
   * `fields` are those of this occurrence; `count` says how often it happened. A `provider` or `projectId` among them is counted
   * for itself. Returns whether there is a line of this occurrence.
   */
  warn(event: LogEvent, fields: LogFields, count = 1): boolean {
    const { clock, logger } = this.#ports;
    const now = clock.now();
    const key = `${event} ${fields.provider} ${fields.projectId}`;
    const counted = this.#events.get(key) ?? { count: 0, loggedAt: null };
    this.#events.set(key, counted);
    counted.count += count;
    // The clock may have been put back.
    if (counted.loggedAt !== null && Math.abs(now - counted.loggedAt) < MINUTE_LOG_INTERVAL_MS) return false;
    logger.warn(event, { ...fields, count: counted.count });
    counted.count = 0;
    counted.loggedAt = now;
    return true;
  }
}

import type { Clock } from '../../application/ports/clock.ts';
import type { LogEvent, Logger } from '../../application/ports/logger.ts';

/** An event is logged once in this time, in milliseconds. */
export const LOG_EVERY_MS = 60_000;

interface Counted {
  count: number;
  loggedAt: number | null;
}

/** Logs what the other side may send very often: one line a minute for each event, with how many there were. */
export class MinuteLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #provider: string;
  readonly #events = new Map<LogEvent, Counted>();

  constructor(provider: string, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#provider = provider;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** `problem` is the one of this occurrence. */
  warn(event: LogEvent, problem: string): void {
    const now = this.#clock.now();
    const counted = this.#events.get(event) ?? { count: 0, loggedAt: null };
    this.#events.set(event, counted);
    counted.count += 1;
    // The clock may have been put back.
    if (counted.loggedAt !== null && Math.abs(now - counted.loggedAt) < LOG_EVERY_MS) return;
    this.#logger.warn(event, { provider: this.#provider, count: counted.count, problem });
    counted.count = 0;
    counted.loggedAt = now;
  }
}

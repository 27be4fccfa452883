import type { LogEvent } from '../../application/ports/logger.ts';

/** While an outage goes on, each event is logged once in this time. */
const OUTAGE_LINE_EVERY_MS = 60_000;

/** An outage is over when nothing has failed for this long. */
const OUTAGE_OVER_MS = 5_000;

interface Outage {
  failedAt: number;
  loggedAt: number;
  suppressed: number;
}

/** Decides which failures of one outage are logged: the first one of each event, then one a minute. */
export class OutageLines {
  readonly #now: () => number;
  readonly #outages = new Map<LogEvent, Outage>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many failures were not logged since the line before, or null when this one is not logged either. */
  next(event: LogEvent): number | null {
    const now = this.#now();
    const outage = this.#outages.get(event);
    const isNew = outage === undefined || now - outage.failedAt >= OUTAGE_OVER_MS;
    if (!isNew && now - outage.loggedAt < OUTAGE_LINE_EVERY_MS) {
      outage.failedAt = now;
      outage.suppressed += 1;
      return null;
    }
    this.#outages.set(event, { failedAt: now, loggedAt: now, suppressed: 0 });
    return outage?.suppressed ?? 0;
  }
}

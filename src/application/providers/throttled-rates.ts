import { millisecondsInSecond } from 'date-fns/constants';
import {
  areMostlyRejected,
  countedAs,
  type Results,
  sendRateAfter,
} from '../../domain/providers/send-rate.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';

/** Of a burst that a provider rejects, the first rejections count, and those that come so soon do not. In milliseconds. */
const THROTTLED_ONCE_MS = 1_000;
/** After so long without a rejection a project has no rate any more, in milliseconds: it is in the thousands by then. */
export const THROTTLED_MS = 30_000;
/** What could have gone out so long ago goes out now, in milliseconds: timers are late. */
const CATCH_UP_MS = 50;

type Counts = { -readonly [Each in keyof Results]: Results[Each] };

/** The rate of one project. */
interface Rate {
  /** When the provider said that it takes no more. */
  readonly at: number;
  /** What it took in a second by then. */
  readonly reached: number;
  /** When the next request may go out. */
  nextAt: number;
}

const NO_RESULTS: Results = { taken: 0, rejected: 0 };

/**
 * The rates at which the requests of projects go to a provider that said that it takes no more. A project has none until half of
 * what it sends in a second is rejected. From then on its requests go out one by one, at the rate of `sendRateAfter`. Sent all at
 * once after a pause they would meet the same limit again, and a limit of so many a second would be used for its first instant
 * only. Each project has a rate of its own, as each connection of TCP has: what is rejected of one slows no other down, whatever
 * it is about, and those that meet the same limit share it.
 */
export class ThrottledRates {
  readonly #now: () => number;
  readonly #rates = new Map<string, Rate>();
  /** No rate allows a request before, so that codes of many projects that wait do not search all rates each. */
  #noneDueBefore = Number.NEGATIVE_INFINITY;
  /** The results of this second of the clock and of the one before, by project. */
  readonly #seconds = new Map<number, Map<string, Counts>>();

  /** `now` is in milliseconds; only differences count. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Notes the result of a request of the project. When the provider takes no more, what it took lately says what it can take only
   * when as much came for it. So it counts for no less than what it took when it said so before, unless it says so below that.
   */
  noteResult(projectId: string, result: SubmitResult): void {
    const counted = countedAs(result);
    if (counted === null) return;
    this.#countsOf(projectId)[counted] += 1;
    if (counted === 'taken') return;
    const now = this.#now();
    const before = this.#rateOf(projectId);
    if (before !== null && now - before.at < THROTTLED_ONCE_MS) return;
    const lately = this.#lately(projectId);
    if (!areMostlyRejected(lately)) return;
    const reached = Math.max(lately.taken, before === null ? 0 : this.#reachedBy(before));
    this.#rates.delete(projectId);
    this.#forget(now);
    const rate = { at: now, reached, nextAt: now };
    this.#rates.set(projectId, rate);
    rate.nextAt += this.#intervalMs(rate);
    this.#noneDueBefore = Math.min(this.#noneDueBefore, rate.nextAt);
  }

  /** How many requests of the project go out in a second; null when it has no rate. */
  perSecond(projectId: string): number | null {
    const rate = this.#rateOf(projectId);
    return rate === null ? null : this.#perSecond(rate);
  }

  /** How many requests of the project, or codes of it, may go out now; null when it has no rate. */
  allowed(projectId: string, isCode = false): number | null {
    const rate = this.#rateOf(projectId);
    if (rate === null) return null;
    const own = this.#due(rate);
    return own === 0 && isCode && this.#anyDue() !== null ? 1 : own;
  }

  /** Notes a request of the project, or a code of it, that goes out. */
  noteSent(projectId: string, isCode = false): void {
    const own = this.#rateOf(projectId);
    if (own === null) return;
    const rate = isCode && this.#due(own) === 0 ? (this.#anyDue() ?? own) : own;
    rate.nextAt = Math.max(rate.nextAt, this.#now() - CATCH_UP_MS) + this.#intervalMs(rate);
  }

  /** In how many milliseconds, 1 at least, the next request of the project may go out that might not a moment ago. */
  waitMs(projectId: string): number {
    return Math.max(1, Math.ceil((this.#rateOf(projectId)?.nextAt ?? 0) - this.#now()));
  }

  #rateOf(projectId: string): Rate | null {
    const rate = this.#rates.get(projectId);
    return rate !== undefined && this.#holds(rate) ? rate : null;
  }

  #holds({ at }: Rate): boolean {
    return this.#now() - at < THROTTLED_MS;
  }

  /** How many requests may go out now. */
  #due(rate: Rate): number {
    const lateMs = this.#now() - rate.nextAt;
    return lateMs < 0 ? 0 : 1 + Math.floor(Math.min(lateMs, CATCH_UP_MS) / this.#intervalMs(rate));
  }

  /** A rate by which a request may go out now, of whatever project; null for none. */
  #anyDue(): Rate | null {
    const now = this.#now();
    if (now < this.#noneDueBefore) return null;
    let next = Number.POSITIVE_INFINITY;
    for (const rate of this.#rates.values()) {
      if (!this.#holds(rate)) continue;
      if (rate.nextAt <= now) return rate;
      next = Math.min(next, rate.nextAt);
    }
    this.#noneDueBefore = next;
    return null;
  }

  #perSecond({ at, reached }: Rate): number {
    return sendRateAfter(reached, this.#now() - at, this.#rates.size);
  }

  /** Between two requests. */
  #intervalMs(rate: Rate): number {
    return millisecondsInSecond / this.#perSecond(rate);
  }

  /** What the provider took in a second when it said before that it takes no more, or the rate since then while that is less. */
  #reachedBy(rate: Rate): number {
    return Math.min(rate.reached, this.#perSecond(rate));
  }

  /** The oldest come first. */
  #forget(now: number): void {
    for (const [projectId, { at }] of this.#rates) {
      if (now - at < THROTTLED_MS) break;
      this.#rates.delete(projectId);
    }
  }

  /** Of the project within the last second, about: those of the second before count by their part of it. */
  #lately(projectId: string): Results {
    const second = this.#second();
    const share = 1 - (this.#now() % millisecondsInSecond) / millisecondsInSecond;
    const { taken, rejected } = this.#seconds.get(second)?.get(projectId) ?? NO_RESULTS;
    const before = this.#seconds.get(second - 1)?.get(projectId) ?? NO_RESULTS;
    return { taken: taken + share * before.taken, rejected: rejected + share * before.rejected };
  }

  #second(): number {
    return Math.floor(this.#now() / millisecondsInSecond);
  }

  #countsOf(projectId: string): Counts {
    const number = this.#second();
    let second = this.#seconds.get(number);
    if (second === undefined) {
      second = new Map();
      for (const each of this.#seconds.keys()) if (each < number - 1) this.#seconds.delete(each);
      this.#seconds.set(number, second);
    }
    const counts = second.get(projectId) ?? { ...NO_RESULTS };
    second.set(projectId, counts);
    return counts;
  }
}

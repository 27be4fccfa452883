import { millisecondsInSecond } from 'date-fns/constants';
import { sendRateAfter } from '../../domain/providers/send-rate.ts';

/** Of a burst that a provider rejects, the first rejection counts, and those that come so soon do not. In milliseconds. */
const THROTTLED_ONCE_MS = 1_000;
/** A provider that took everything for so long has no rate any more, in milliseconds: it is in the thousands by then. */
export const THROTTLED_MS = 30_000;
/** The first time that a provider throttles, the fullest of so many seconds counts: in the last one little may have come. */
const SECONDS_KEPT = 10;
/** What could have gone out so long ago goes out now, in milliseconds: timers are late. */
const CATCH_UP_MS = 50;

/**
 * The rate at which requests go to a provider that said that it takes no more. Without a word of it there is no limit; from then
 * on they go out one by one, at the rate of `sendRateAfter`. Sent all at once after a pause they would meet the same limit again,
 * and a limit of so many a second would be used for its first instant only.
 */
export class ThrottledRate {
  readonly #now: () => number;
  #throttled: { readonly at: number; readonly reached: number } | null = null;
  /** When the next request may go out, while there is a rate. */
  #nextAt = 0;
  /** How many were taken in each of the last seconds of the clock. */
  readonly #taken = new Map<number, number>();

  /** `now` is in milliseconds; only differences count. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the provider said lately that it takes no more. */
  get isThrottled(): boolean {
    return this.#throttled !== null && this.#now() - this.#throttled.at < THROTTLED_MS;
  }

  /** Notes that the provider took a request. */
  noteTaken(): void {
    const second = this.#second();
    this.#taken.set(second, this.#takenIn(second) + 1);
    if (this.#taken.size > SECONDS_KEPT) this.#forgetBefore(second - SECONDS_KEPT);
  }

  /**
   * Notes that the provider takes no more. What it took lately says what it can take only when as much came for it. So it counts
   * for no less than what it took when it said so before, unless it says so below that.
   */
  throttle(): void {
    const now = this.#now();
    const before = this.#throttled;
    if (before !== null && now - before.at < THROTTLED_ONCE_MS) return;
    const known =
      before === null ? 0 : Math.min(before.reached, sendRateAfter(before.reached, now - before.at));
    const taken = this.isThrottled ? this.#takenLately() : this.#mostTaken();
    this.#throttled = { at: now, reached: Math.max(known, taken) };
    this.#nextAt = now + this.#intervalMs();
  }

  /** How many requests may go out now. */
  allowed(): number {
    if (!this.isThrottled) return Number.POSITIVE_INFINITY;
    const lateMs = this.#now() - this.#nextAt;
    return lateMs < 0 ? 0 : 1 + Math.floor(Math.min(lateMs, CATCH_UP_MS) / this.#intervalMs());
  }

  /** Notes a request that goes out. */
  noteSent(): void {
    if (this.isThrottled)
      this.#nextAt = Math.max(this.#nextAt, this.#now() - CATCH_UP_MS) + this.#intervalMs();
  }

  /** In how many milliseconds the next request may go out; 0 when one may now. */
  waitMs(): number {
    return this.isThrottled ? Math.max(0, Math.ceil(this.#nextAt - this.#now())) : 0;
  }

  /** Between two requests. */
  #intervalMs(): number {
    const { at, reached } = this.#throttled ?? { at: 0, reached: 0 };
    return millisecondsInSecond / sendRateAfter(reached, this.#now() - at);
  }

  /** How many the provider took within the last second, about. */
  #takenLately(): number {
    const second = this.#second();
    const share = (this.#now() % millisecondsInSecond) / millisecondsInSecond;
    return this.#takenIn(second) + (1 - share) * this.#takenIn(second - 1);
  }

  /** The most that it took in one second. */
  #mostTaken(): number {
    this.#forgetBefore(this.#second() - SECONDS_KEPT);
    return Math.max(this.#takenLately(), ...this.#taken.values());
  }

  #second(): number {
    return Math.floor(this.#now() / millisecondsInSecond);
  }

  #takenIn(second: number): number {
    return this.#taken.get(second) ?? 0;
  }

  #forgetBefore(second: number): void {
    for (const each of this.#taken.keys()) if (each < second) this.#taken.delete(each);
  }
}

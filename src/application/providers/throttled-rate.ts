import { millisecondsInSecond } from 'date-fns/constants';
import { areRejectionsAboutAll, type Results, sendRateAfter } from '../../domain/providers/send-rate.ts';

/** Of a burst that a provider rejects, the first rejection counts, and those that come so soon do not. In milliseconds. */
const THROTTLED_ONCE_MS = 1_000;
/** A provider that took everything for so long has no rate any more, in milliseconds: it is in the thousands by then. */
export const THROTTLED_MS = 30_000;
/** The first time that a provider throttles, the fullest of so many seconds counts: in the last one little may have come. */
const SECONDS_KEPT = 10;
/** What could have gone out so long ago goes out now, in milliseconds: timers are late. */
const CATCH_UP_MS = 50;

interface Counts {
  taken: number;
  rejected: number;
}

/** The results of one second of the clock. */
interface Second extends Counts {
  readonly ofProjects: Map<string, Counts>;
}

/**
 * The rate at which requests go to a provider that said that it takes no more. Without a word of it there is no limit; from then
 * on they go out one by one, at the rate of `sendRateAfter`. Sent all at once after a pause they would meet the same limit again,
 * and a limit of so many a second would be used for its first instant only. What is rejected of one project alone, while those of
 * others are taken, is about that project: it lowers no rate.
 */
export class ThrottledRate {
  readonly #now: () => number;
  #throttled: { readonly at: number; readonly reached: number } | null = null;
  /** When the next request may go out, while there is a rate. */
  #nextAt = 0;
  /** By the number of the second. */
  readonly #seconds = new Map<number, Second>();

  /** `now` is in milliseconds; only differences count. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the provider said lately that it takes no more. */
  get isThrottled(): boolean {
    return this.#throttled !== null && this.#now() - this.#throttled.at < THROTTLED_MS;
  }

  /** Notes that the provider took a request of the project. */
  noteTaken(projectId: string): void {
    this.#count('taken', projectId);
  }

  /**
   * Notes that the provider rejected a request of the project, because it takes no more. What it took lately says what it can
   * take only when as much came for it. So it counts for no less than what it took when it said so before, unless it says so
   * below that.
   */
  throttle(projectId: string): void {
    this.#count('rejected', projectId);
    const now = this.#now();
    const before = this.isThrottled ? this.#throttled : null;
    if (before !== null && now - before.at < THROTTLED_ONCE_MS) return;
    if (!this.#areRejectionsAboutAll(projectId)) return;
    this.#throttled = { at: now, reached: before === null ? this.#mostTaken() : this.#reachedSince(before) };
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

  #reachedSince({ at, reached }: { readonly at: number; readonly reached: number }): number {
    return Math.max(Math.min(reached, sendRateAfter(reached, this.#now() - at)), this.#takenLately());
  }

  /** By the results of this second and of the one before. */
  #areRejectionsAboutAll(projectId: string): boolean {
    const second = this.#second();
    const seconds = [second - 1, second].flatMap((each) => this.#seconds.get(each) ?? []);
    const own = seconds.flatMap(({ ofProjects }) => ofProjects.get(projectId) ?? []);
    return areRejectionsAboutAll(sumOf(seconds), sumOf(own));
  }

  /** How many the provider took within the last second, about. */
  #takenLately(): number {
    const second = this.#second();
    const share = (this.#now() % millisecondsInSecond) / millisecondsInSecond;
    const takenIn = (each: number): number => this.#seconds.get(each)?.taken ?? 0;
    return takenIn(second) + (1 - share) * takenIn(second - 1);
  }

  /** The most that it took in one second. */
  #mostTaken(): number {
    return Math.max(this.#takenLately(), ...[...this.#seconds.values()].map(({ taken }) => taken));
  }

  #second(): number {
    return Math.floor(this.#now() / millisecondsInSecond);
  }

  #count(result: keyof Counts, projectId: string): void {
    const number = this.#second();
    let second = this.#seconds.get(number);
    if (second === undefined) {
      second = { taken: 0, rejected: 0, ofProjects: new Map() };
      for (const each of this.#seconds.keys()) if (each < number - SECONDS_KEPT) this.#seconds.delete(each);
      this.#seconds.set(number, second);
    }
    const own = second.ofProjects.get(projectId) ?? { taken: 0, rejected: 0 };
    second.ofProjects.set(projectId, own);
    second[result] += 1;
    own[result] += 1;
  }
}

function sumOf(results: readonly Results[]): Results {
  return {
    taken: results.reduce((sum, { taken }) => sum + taken, 0),
    rejected: results.reduce((sum, { rejected }) => sum + rejected, 0),
  };
}

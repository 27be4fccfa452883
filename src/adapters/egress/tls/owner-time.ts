import type { PeerShares, PeerWork } from './peer-work.ts';

/** The work and the debt of one owner, see `PeerTime`. */
export class OwnerTime {
  /** The owner is in debt until each debtor has repaid this much, in milliseconds. */
  repaidAt = 0;
  readonly #free = new Set<PeerWork>();
  /** What waits while the owner is in debt. The newest is done first: the oldest may be given up soon. */
  readonly #held = new Set<PeerWork>();

  /** What is left of its free time, in milliseconds, as of `#freeAt`. */
  #freeMs: number;
  #freeAt: number;
  readonly #shares: PeerShares;

  constructor(shares: PeerShares, now: number) {
    this.#shares = shares;
    this.#freeMs = shares.freeMsMax;
    this.#freeAt = now;
  }

  /** Uses free time. Returns how much there was not. */
  useFree(ms: number, now: number): number {
    const free = this.#freeMs + (now - this.#freeAt) * this.#shares.free;
    this.#freeAt = now;
    this.#freeMs = Math.min(this.#shares.freeMsMax, free) - ms;
    const missing = Math.max(0, -this.#freeMs);
    this.#freeMs += missing;
    return missing;
  }

  get hasWork(): boolean {
    return this.#free.size > 0 || this.#held.size > 0;
  }

  canRun(isInDebt: boolean): boolean {
    return this.#free.size > 0 || (!isInDebt && this.#held.size > 0);
  }

  add(work: PeerWork): void {
    (work.waitsForDebt ? this.#held : this.#free).add(work);
  }

  delete(work: PeerWork): void {
    this.#free.delete(work);
    this.#held.delete(work);
  }

  take(isInDebt: boolean): PeerWork | null {
    const [oldest] = this.#free;
    const next = oldest ?? (isInDebt ? null : newestOf(this.#held));
    if (next !== null) this.delete(next);
    return next;
  }
}

function newestOf(works: ReadonlySet<PeerWork>): PeerWork | null {
  let newest: PeerWork | null = null;
  for (const each of works) newest = each;
  return newest;
}

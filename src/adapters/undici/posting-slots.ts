/** Told once whether a slot was taken; false when none came free in time. */
type Proceed = (isTaken: boolean) => void;

interface Waiting {
  readonly proceed: Proceed;
  /** By `performance.now()`. */
  readonly until: number;
}

/** The posts under way to one key, and those that wait for one of them to end. */
interface Lane {
  taken: number;
  /** In the order they came, which is that of their `until`; so many at the front are served already. */
  readonly waiting: Waiting[];
  served: number;
  /** For the first in line, or one that was before it. */
  timer: NodeJS.Timeout | null;
}

/** Of a line that is never empty what is served is cut off when it is so long. */
const SERVED_MAX = 1_000;

/**
 * Bounds how many posts of one key are under way at once, so that a receiver that hangs holds up nobody but
 * itself. Keys without posts take no memory.
 */
export class PostingSlots {
  readonly #slotsPerKey: number;
  readonly #waitMsMax: number;
  readonly #lanes = new Map<string, Lane>();

  constructor(slotsPerKey: number, waitMsMax: number) {
    this.#slotsPerKey = slotsPerKey;
    this.#waitMsMax = waitMsMax;
  }

  /** Proceeds at once when a slot is free, else first come first served. */
  take(key: string, proceed: Proceed): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) {
      this.#lanes.set(key, { taken: 1, waiting: [], served: 0, timer: null });
      proceed(true);
    } else if (lane.taken < this.#slotsPerKey) {
      lane.taken += 1;
      proceed(true);
    } else {
      this.#wait(lane, proceed);
    }
  }

  /** Gives a taken slot to the next in line, or back. */
  give(key: string): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    const next = serveNext(lane);
    if (next !== null) {
      next.proceed(true);
      return;
    }
    lane.taken -= 1;
    if (lane.taken > 0) return;
    this.#lanes.delete(key);
    if (lane.timer !== null) clearTimeout(lane.timer);
  }

  #wait(lane: Lane, proceed: Proceed): void {
    lane.waiting.push({ proceed, until: performance.now() + this.#waitMsMax });
    lane.timer ??= setTimeout(() => this.#giveUp(lane), this.#waitMsMax);
  }

  #giveUp(lane: Lane): void {
    const now = performance.now();
    const over: Waiting[] = [];
    let first = lane.waiting[lane.served];
    while (first !== undefined && first.until <= now) {
      over.push(first);
      lane.served += 1;
      first = lane.waiting[lane.served];
    }
    lane.timer =
      first === undefined ? null : setTimeout(() => this.#giveUp(lane), Math.ceil(first.until - now));
    for (const { proceed } of over) proceed(false);
  }
}

function serveNext(lane: Lane): Waiting | null {
  const next = lane.waiting[lane.served];
  if (next !== undefined) lane.served += 1;
  if (next === undefined || lane.served > SERVED_MAX) {
    lane.waiting.splice(0, lane.served);
    lane.served = 0;
  }
  return next ?? null;
}

/** Told once whether a slot was taken; false when none came free in time. */
type Proceed = (isTaken: boolean) => void;

interface Waiting {
  readonly proceed: Proceed;
  readonly timer: NodeJS.Timeout;
  isOver: boolean;
}

/** The posts under way to one key, and those that wait for one of them to end. */
interface Lane {
  taken: number;
  /** In the order they came; those that are over are passed by. */
  readonly waiting: Waiting[];
  passed: number;
}

/** Of a line that is never empty the front is cut off when it is so long. */
const PASSED_MAX = 1_000;

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
      this.#lanes.set(key, { taken: 1, waiting: [], passed: 0 });
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
    const next = nextOf(lane);
    if (next !== null) {
      next.isOver = true;
      clearTimeout(next.timer);
      next.proceed(true);
      return;
    }
    lane.taken -= 1;
    if (lane.taken === 0) this.#lanes.delete(key);
  }

  #wait(lane: Lane, proceed: Proceed): void {
    const waiting: Waiting = {
      proceed,
      timer: setTimeout(() => {
        waiting.isOver = true;
        proceed(false);
      }, this.#waitMsMax),
      isOver: false,
    };
    lane.waiting.push(waiting);
  }
}

function nextOf(lane: Lane): Waiting | null {
  let next = lane.waiting[lane.passed];
  while (next?.isOver === true) {
    lane.passed += 1;
    next = lane.waiting[lane.passed];
  }
  if (next === undefined || lane.passed > PASSED_MAX) {
    lane.waiting.splice(0, lane.passed);
    lane.passed = 0;
  }
  return next ?? null;
}

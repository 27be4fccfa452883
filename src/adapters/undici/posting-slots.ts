/** The posts under way to one key, and those that wait for one of them to end. */
interface Lane {
  taken: number;
  readonly waiting: Set<() => void>;
}

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

  /** True once a slot is taken, first come first served; false when none came free in time. */
  take(key: string): boolean | Promise<boolean> {
    const lane = this.#lanes.get(key);
    if (lane === undefined) {
      this.#lanes.set(key, { taken: 1, waiting: new Set() });
      return true;
    }
    if (lane.taken < this.#slotsPerKey) {
      lane.taken += 1;
      return true;
    }
    return new Promise((resolve) => {
      const proceed = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        lane.waiting.delete(proceed);
        resolve(false);
      }, this.#waitMsMax);
      lane.waiting.add(proceed);
    });
  }

  /** Gives a taken slot to the next in line, or back. */
  give(key: string): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    const [next] = lane.waiting;
    if (next !== undefined) {
      lane.waiting.delete(next);
      next();
      return;
    }
    lane.taken -= 1;
    if (lane.taken === 0) this.#lanes.delete(key);
  }
}

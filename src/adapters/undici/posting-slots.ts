import { clearTimeout, setTimeout } from 'node:timers';
/** Whoever wants a slot. */
export interface InLine {
  /** Called exactly once for each `take`: whether a slot was taken; false when none came free in time. */
  proceed(isTaken: boolean): void;
}

interface Waiting {
  readonly inLine: InLine;
  /** By `performance.now()`. */
  readonly until: number;
}

/** The posts under way to one key, and those that wait for one of them to end. */
interface Line {
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
  readonly #lines = new Map<string, Line>();

  constructor(slotsPerKey: number, waitMsMax: number) {
    this.#slotsPerKey = slotsPerKey;
    this.#waitMsMax = waitMsMax;
  }

  /** Proceeds at once when a slot is free, else first come first served. */
  take(key: string, inLine: InLine): void {
    const line = this.#lines.get(key);
    if (line === undefined) {
      this.#lines.set(key, { taken: 1, waiting: [], served: 0, timer: null });
      inLine.proceed(true);
    } else if (line.taken < this.#slotsPerKey) {
      line.taken += 1;
      inLine.proceed(true);
    } else {
      this.#wait(line, inLine);
    }
  }

  /** Gives a taken slot to the next in line, or back. */
  give(key: string): void {
    const line = this.#lines.get(key);
    if (line === undefined) return;
    const now = performance.now();
    for (let next = serveNext(line); next !== null; next = serveNext(line)) {
      const isInTime = next.until > now;
      next.inLine.proceed(isInTime);
      if (isInTime) return;
    }
    line.taken -= 1;
    if (line.taken > 0) return;
    this.#lines.delete(key);
    if (line.timer !== null) clearTimeout(line.timer);
  }

  #wait(line: Line, inLine: InLine): void {
    line.waiting.push({ inLine, until: performance.now() + this.#waitMsMax });
    line.timer ??= setTimeout(() => this.#giveUp(line), this.#waitMsMax);
  }

  #giveUp(line: Line): void {
    const now = performance.now();
    const over: Waiting[] = [];
    let first = line.waiting[line.served];
    while (first !== undefined && first.until <= now) {
      over.push(first);
      line.served += 1;
      first = line.waiting[line.served];
    }
    line.timer =
      first === undefined ? null : setTimeout(() => this.#giveUp(line), Math.ceil(first.until - now));
    for (const { inLine } of over) inLine.proceed(false);
  }
}

function serveNext(line: Line): Waiting | null {
  const next = line.waiting[line.served];
  if (next !== undefined) line.served += 1;
  if (next === undefined || line.served > SERVED_MAX) {
    line.waiting.splice(0, line.served);
    line.served = 0;
  }
  return next ?? null;
}

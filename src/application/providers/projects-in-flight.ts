import {
  FRESH_MS,
  LATENCY_REMEMBERED_MS,
  type Latency,
  latencyOf,
  moreInFlight,
  SLOW_AFTER_MS,
} from '../../domain/providers/submission-share.ts';

/** An item in flight: when it began, in milliseconds. */
interface Begun {
  readonly at: number;
}

const NONE: ReadonlySet<never> = new Set();

/** What is in flight to a provider, by project, and how many more of a project may be: the rule is `moreInFlight`. */
export class ProjectsInFlight {
  readonly #now: () => number;
  readonly #freshMs: number;
  /** When each of a project began, the oldest first. */
  readonly #begun = new Map<string, Set<Begun>>();
  /** Until when the latency of each project is remembered, the earliest first, in milliseconds. */
  readonly #latencies: Readonly<Record<Exclude<Latency, 'quick'>, Map<string, number>>> = {
    long: new Map(),
    slow: new Map(),
  };
  /** Those of all projects that were fresh when they were counted last, the oldest first. */
  readonly #fresh = new Set<Begun>();
  #count = 0;

  /** `now` is in milliseconds; only differences count. What is in flight is fresh for `freshMs`. */
  constructor(now: () => number, freshMs = FRESH_MS) {
    this.#now = now;
    this.#freshMs = freshMs;
  }

  /** How many are in flight. */
  get count(): number {
    return this.#count;
  }

  /** How many in flight are fresh. */
  fresh(): number {
    const before = this.#now() - this.#freshMs;
    for (const begun of this.#fresh) {
      if (begun.at > before) break;
      this.#fresh.delete(begun);
    }
    return this.#fresh.size;
  }

  /** In how many milliseconds the next one in flight is fresh no longer; null when none is. */
  freshEndsMs(): number | null {
    for (const { at } of this.#fresh) return Math.max(0, at + this.#freshMs - this.#now());
    return null;
  }

  /** How many more of a project may be in flight, when `free` more of all projects may. */
  moreOf(projectId: string, free: number): number {
    const own = this.#begun.get(projectId) ?? NONE;
    const now = this.#now();
    const latency = this.#latencyOf(projectId, own, now);
    const ofProject = { inFlight: own.size, slow: slowIn(own, now, free), latency };
    return moreInFlight(ofProject, { free, places: this.#count + free });
  }

  /** Counts one of a project as in flight until the function that it returns is called, once. */
  begin(projectId: string): () => void {
    const begun = { at: this.#now() };
    const own = this.#begun.get(projectId) ?? new Set();
    this.#begun.set(projectId, own.add(begun));
    this.#fresh.add(begun);
    this.#count += 1;
    return () => {
      this.#count -= 1;
      own.delete(begun);
      this.#noteLatency(projectId, begun);
      this.#fresh.delete(begun);
      if (own.size === 0) this.#begun.delete(projectId);
    };
  }

  #noteLatency(projectId: string, { at }: Begun): void {
    const now = this.#now();
    const latency = latencyOf(now - at);
    if (latency === 'quick') return;
    const remembered = this.#latencies[latency];
    remembered.delete(projectId);
    remembered.set(projectId, now + LATENCY_REMEMBERED_MS);
    for (const [each, until] of remembered) {
      if (until > now) break;
      remembered.delete(each);
    }
  }

  /** The slowest latency of what is in flight, and of what ended lately. */
  #latencyOf(projectId: string, own: ReadonlySet<Begun>, now: number): Latency {
    const [oldest] = own;
    const present = oldest === undefined ? 'quick' : latencyOf(now - oldest.at);
    const was = (latency: 'long' | 'slow') => (this.#latencies[latency].get(projectId) ?? 0) > now;
    if (present === 'slow' || was('slow')) return 'slow';
    return present === 'long' || was('long') ? 'long' : 'quick';
  }
}

/** How many in flight are slow; `countMax` at most. */
function slowIn(own: ReadonlySet<Begun>, now: number, countMax: number): number {
  let slow = 0;
  for (const { at } of own) {
    if (now - at < SLOW_AFTER_MS || slow === countMax) break;
    slow += 1;
  }
  return slow;
}

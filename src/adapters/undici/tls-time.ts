import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';

/** The part of the event loop's time that TLS with the receivers of one project may take. */
export const TLS_TIME_PART = 0.05;
/** A project that needed none for a while has saved up so much of it, in milliseconds. */
export const TLS_SAVED_MS_MAX = 100;

/**
 * Gives the event loop's time to what TLS computes for receivers, by project. A receiver decides what that costs: a chain of
 * sixteen kilobytes may take a tenth of a second to check, and nothing else runs meanwhile. So it is timed, and a project that
 * has used up its part waits, while others go on.
 */
export class TlsTime {
  readonly #now: () => number;
  readonly #projects = new Map<string, ProjectTime>();

  /** `now` in milliseconds; it never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  of(projectId: string): ProjectTime {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      project = new ProjectTime(this.#now);
      this.#projects.set(projectId, project);
    }
    return project;
  }

  /** Computations that wait are never run. */
  close(): void {
    for (const project of this.#projects.values()) project.close();
    this.#projects.clear();
  }
}

export class ProjectTime {
  readonly #now: () => number;
  /** Milliseconds at `#at`; below zero, computations wait. */
  #left = TLS_SAVED_MS_MAX;
  #at: number;
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(now: () => number) {
    this.#now = now;
    this.#at = now();
  }

  /** Whether a computation would be run at once. */
  isLeft(): boolean {
    return this.#left >= 0 || (this.#waiting.length === 0 && this.#count() >= 0);
  }

  /** Counts milliseconds that were spent. */
  take(ms: number): void {
    this.#left = this.#count() - ms;
  }

  /** Runs a computation and counts its time: at once, or when there is time again, behind others that wait. */
  run(compute: () => void): void {
    this.#waiting.push(compute);
    if (!this.#isRunning && this.#timer === null) this.#runWaiting();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#waiting.length = 0;
  }

  #runWaiting(): void {
    this.#isRunning = true;
    while (this.#count() >= 0) {
      const compute = this.#waiting.shift();
      if (compute === undefined) break;
      const startedAt = this.#now();
      compute();
      this.take(this.#now() - startedAt);
    }
    this.#isRunning = false;
    if (this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#runWaiting();
    }, -this.#left / TLS_TIME_PART);
  }

  /** What is left now. */
  #count(): number {
    const now = this.#now();
    this.#left = Math.min(this.#left + (now - this.#at) * TLS_TIME_PART, TLS_SAVED_MS_MAX);
    this.#at = now;
    return this.#left;
  }
}

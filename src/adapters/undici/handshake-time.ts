import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';

/** The part of the event loop's time that the handshakes of one project may take. */
export const HANDSHAKE_SHARE = 0.05;
/** A project that opened no connection for a while has saved up so much of it, in milliseconds. */
export const HANDSHAKE_SAVED_MS_MAX = 100;

/** The time of one project. */
interface Allowance {
  /** Milliseconds; below zero, its computations wait. */
  left: number;
  /** When `left` was counted. */
  at: number;
  readonly waiting: (() => void)[];
  timer: NodeJS.Timeout | null;
}

/**
 * Gives the event loop's time to the computations of TLS handshakes, by project. A receiver decides what its certificates cost:
 * a chain of sixteen kilobytes may take a tenth of a second to check, and nothing else runs meanwhile. So each computation is
 * timed, and a project that has used up its share waits, while others go on.
 */
export class HandshakeTime {
  readonly #now: () => number;
  readonly #allowances = new Map<string, Allowance>();

  /** `now` in milliseconds; it never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs a computation: at once, or when the project has time again, behind its others that wait. */
  run(projectId: string, compute: () => void): void {
    const allowance = this.#allowanceOf(projectId);
    allowance.waiting.push(compute);
    if (allowance.timer === null) this.#runWaiting(allowance);
  }

  /** Computations that wait are never run. */
  close(): void {
    for (const { timer } of this.#allowances.values()) {
      if (timer !== null) clearTimeout(timer);
    }
    this.#allowances.clear();
  }

  #allowanceOf(projectId: string): Allowance {
    const known = this.#allowances.get(projectId);
    if (known !== undefined) return known;
    const allowance = { left: HANDSHAKE_SAVED_MS_MAX, at: this.#now(), waiting: [], timer: null };
    this.#allowances.set(projectId, allowance);
    return allowance;
  }

  #runWaiting(allowance: Allowance): void {
    const now = this.#now();
    allowance.left = Math.min(
      allowance.left + (now - allowance.at) * HANDSHAKE_SHARE,
      HANDSHAKE_SAVED_MS_MAX,
    );
    allowance.at = now;
    while (allowance.left >= 0) {
      const compute = allowance.waiting.shift();
      if (compute === undefined) return;
      compute();
      const end = this.#now();
      allowance.left -= end - allowance.at;
      allowance.at = end;
    }
    allowance.timer = setTimeout(() => {
      allowance.timer = null;
      this.#runWaiting(allowance);
    }, -allowance.left / HANDSHAKE_SHARE);
  }
}

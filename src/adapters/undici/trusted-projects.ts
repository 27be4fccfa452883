import { performance } from 'node:perf_hooks';

/** So long after a failed handshake every handshake of the project is watched, in milliseconds. */
export const DISTRUST_MS = 600_000;
/** Handshakes of a trusted project that nobody watches at a time. */
export const UNWATCHED_MAX = 2;

/** How the handshake of a connection ended: `none` when it never began. */
export type HandshakeEnd = 'succeeded' | 'failed' | 'none';

interface Trust {
  hasSucceeded: boolean;
  distrustedUntil: number;
  /** Unwatched handshakes in flight. */
  unwatched: number;
}

/**
 * Decides which handshakes are watched (see `WatchedStream`): a watched connection costs a sixth more with each webhook. A handshake
 * that succeeds takes little time, because authorities sign no certificate that is costly to check. So a project is trusted from
 * a success until a failure, with two unwatched handshakes at a time. A handshake that times out has failed.
 */
export class TrustedProjects {
  readonly #now: () => number;
  readonly #trusts = new Map<string, Trust>();

  /** `now` in milliseconds; it never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the next handshake of the project needs no watch. */
  trusts(projectId: string): boolean {
    const { hasSucceeded, distrustedUntil, unwatched } = this.#of(projectId);
    return hasSucceeded && unwatched < UNWATCHED_MAX && this.#now() >= distrustedUntil;
  }

  /** An unwatched handshake begins. Its end has to be noted. */
  begin(projectId: string): void {
    this.#of(projectId).unwatched += 1;
  }

  noteEnd(projectId: string, isWatched: boolean, end: HandshakeEnd): void {
    const trust = this.#of(projectId);
    if (!isWatched) trust.unwatched -= 1;
    if (end === 'none') return;
    trust.hasSucceeded = end === 'succeeded';
    if (end === 'failed') trust.distrustedUntil = this.#now() + DISTRUST_MS;
  }

  #of(projectId: string): Trust {
    const known = this.#trusts.get(projectId);
    if (known !== undefined) return known;
    const trust = { hasSucceeded: false, distrustedUntil: Number.NEGATIVE_INFINITY, unwatched: 0 };
    this.#trusts.set(projectId, trust);
    return trust;
  }
}

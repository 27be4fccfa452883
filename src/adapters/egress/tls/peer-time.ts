import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { onNextRound } from '../../../application/concurrency/next-round.ts';
import { OwnerTime } from './owner-time.ts';
import type { PeerShares, PeerWork } from './peer-work.ts';

/** The shares of webhook receivers; the owner is a project. */
export const RECEIVER_SHARES: PeerShares = { owner: 0.02, all: 0.15, freeMsMax: 200, free: 0.05 };
/** The shares of a channel provider, which may open all its connections at once, and has the messages of everybody. */
export const PROVIDER_SHARES: PeerShares = { owner: 0.1, all: 0.2, freeMsMax: 1_000, free: 0.4 };

/** How long one round of the event loop does this work, in milliseconds, before it serves what else waits. */
export const PEER_ROUND_MS = 10;

/** A shorter piece is not searched for pauses, which takes a microsecond. */
const PAUSE_MS_MIN = 1;

/**
 * Gives the event loop's time to what TLS and the parser of HTTP compute for peers: the webhook receivers of a project, or a
 * provider, which is the owner of that work. A peer decides what that costs: a chain of sixteen kilobytes may take a tenth of a
 * second to check, and a response may have thousands of header lines. So what costs more than an honest peer does is a debt of
 * its owner, and so are handshakes when there have been many lately. The handshakes of a debtor, and responses beyond their free
 * time, wait until the debt is repaid. A round of the loop has `PEER_ROUND_MS` of this work, of all owners in rotation.
 */
export class PeerTime {
  readonly #shares: PeerShares;
  readonly #now: () => number;
  readonly #processorMs: () => number;
  readonly #owners = new Map<string, OwnerTime>();
  /** The owners with work that waits: the next one first. */
  readonly #waiting = new Set<OwnerTime>();
  readonly #debtors = new Set<OwnerTime>();
  /** How much each debtor has repaid since the start, in milliseconds, at `#at`. */
  #repaid = 0;
  #at: number;
  /** What was used of this round of the loop, in milliseconds; null before its first work. */
  #roundMs: number | null = null;
  /** The processor time of the process when this round began. */
  #roundProcessorMs = 0;
  #isRunning = false;
  #timer: NodeJS.Timeout | null = null;

  /** Both in milliseconds, and they never go back: `now`, and what the process has had of the processor. */
  constructor(
    shares: PeerShares,
    now: () => number = () => performance.now(),
    processorMs: () => number = processorTime,
  ) {
    this.#shares = shares;
    this.#now = now;
    this.#processorMs = processorMs;
    this.#at = now();
  }

  /** Does work of the owner of that name: at once if it can. */
  run(name: string, work: PeerWork): void {
    const owner = this.#owner(name);
    this.#repay();
    while (work.isReady) {
      const isFree = !this.#isRunning && this.#hasRoundTime() && !this.#isWorkReady();
      if (!isFree || (work.waitsForDebt && this.#isInDebt(owner))) {
        owner.add(work);
        this.#waiting.add(owner);
        this.#continue();
        return;
      }
      this.#compute(owner, work);
    }
  }

  /** The work waits no longer. Nothing happens when it does not wait. */
  drop(name: string, work: PeerWork): void {
    const owner = this.#owner(name);
    owner.delete(work);
    if (!owner.hasWork) this.#waiting.delete(owner);
  }

  /** Work that waits is never done. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting.clear();
  }

  #owner(name: string): OwnerTime {
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = new OwnerTime(this.#shares, this.#now());
      this.#owners.set(name, owner);
    }
    return owner;
  }

  #compute(owner: OwnerTime, work: PeerWork): void {
    if (this.#roundMs === null) this.#beginRound();
    const startedAt = this.#now();
    const mayWait = work.waitsForDebt;
    this.#isRunning = true;
    work.compute();
    this.#isRunning = false;
    const ms = this.#now() - startedAt;
    this.#roundMs = (this.#roundMs ?? 0) + ms;
    const spent = ms < PAUSE_MS_MIN ? ms : this.#withoutPauses(ms);
    const owed = work.spend(spent);
    // A piece that may wait is of a handshake, or of a response beyond its free time, which owes all of it.
    const beyondFree = mayWait ? owner.useFree(Math.max(0, spent - owed), this.#now()) : 0;
    if (owed + beyondFree > 0) this.#owe(owner, owed + beyondFree);
  }

  /** Without the time in which the processor did something else: on a busy machine an honest receiver would owe that. */
  #withoutPauses(ms: number): number {
    return Math.min(ms, this.#processorMs() - this.#roundProcessorMs);
  }

  #hasRoundTime(): boolean {
    return (this.#roundMs ?? 0) < PEER_ROUND_MS;
  }

  #beginRound(): void {
    this.#roundMs = 0;
    this.#roundProcessorMs = this.#processorMs();
    onNextRound(() => {
      this.#roundMs = null;
      this.#runWaiting();
    });
  }

  #runWaiting(): void {
    this.#repay();
    while (this.#hasRoundTime()) {
      const next = this.#takeNext();
      if (next === null) break;
      const { owner, work } = next;
      if (work.isReady) this.#compute(owner, work);
      if (!work.isReady) continue;
      owner.add(work);
      this.#waiting.add(owner);
    }
    this.#continue();
  }

  /** Sees to it that what waits is done later. */
  #continue(): void {
    if (this.#waiting.size === 0 || this.#roundMs !== null) return;
    if (this.#isWorkReady()) {
      this.#beginRound();
      return;
    }
    if (this.#timer !== null) clearTimeout(this.#timer);
    // When the first of the debtors is out of debt the others repay faster.
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#runWaiting();
    }, this.#firstRepaidMs());
  }

  /** Whether some of the work that waits may be done. */
  #isWorkReady(): boolean {
    for (const owner of this.#waiting) {
      if (owner.canRun(this.#isInDebt(owner))) return true;
    }
    return false;
  }

  /** The next piece of work that may be done; its owner is the last one of the rotation then. */
  #takeNext(): { readonly owner: OwnerTime; readonly work: PeerWork } | null {
    for (const owner of this.#waiting) {
      const work = owner.take(this.#isInDebt(owner));
      if (work === null) continue;
      this.#waiting.delete(owner);
      if (owner.hasWork) this.#waiting.add(owner);
      return { owner, work };
    }
    return null;
  }

  #owe(owner: OwnerTime, ms: number): void {
    this.#repay();
    owner.repaidAt = Math.max(owner.repaidAt, this.#repaid) + ms;
    this.#debtors.add(owner);
  }

  /** As of the last `#repay`. */
  #isInDebt(owner: OwnerTime): boolean {
    return this.#debtors.has(owner);
  }

  #repay(): void {
    const now = this.#now();
    let ms = now - this.#at;
    this.#at = now;
    while (this.#debtors.size > 0) {
      const firstMs = this.#firstRepaidMs();
      if (firstMs > ms) {
        this.#repaid += ms * this.#repaidPerMs();
        return;
      }
      ms -= firstMs;
      this.#repaid = this.#leastRepaidAt();
      for (const debtor of this.#debtors) {
        if (debtor.repaidAt <= this.#repaid) this.#debtors.delete(debtor);
      }
    }
  }

  /** Milliseconds until the first of the debtors is out of debt. */
  #firstRepaidMs(): number {
    return (this.#leastRepaidAt() - this.#repaid) / this.#repaidPerMs();
  }

  #leastRepaidAt(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { repaidAt } of this.#debtors) least = Math.min(least, repaidAt);
    return least;
  }

  /** What each debtor repays in a millisecond. */
  #repaidPerMs(): number {
    return Math.min(this.#shares.owner, this.#shares.all / this.#debtors.size);
  }
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

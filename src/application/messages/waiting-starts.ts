import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { AttemptRef } from '../../domain/messages/attempt-name.ts';
import {
  NONE_TAKEN,
  type TakenCount,
  takenLately,
  UNLIMITED_CAPACITY,
  waitingMax,
  withOneTaken,
} from '../../domain/messages/submission-share.ts';
import { FairQueue } from '../concurrency/fair-queue.ts';
import { type ChannelProvider, PROVIDER_WAIT_MS } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { ProviderKey, SubmissionCapacity } from './submission-capacity.ts';

/** So many are begun in one transaction. */
export const WAITING_STARTS_BATCH_MAX = 256;
/** What was taken of a backlog is forgotten after this time, in milliseconds: it counts no longer by far. */
const FORGET_AFTER_MS = 10_000;

const NOBODY_AHEAD = { ofAll: 0, ofBacklog: 0 };

interface WaitingPorts {
  readonly submissionCapacity: Pick<SubmissionCapacity, 'begin'>;
  readonly clock: Clock;
}

/** An attempt that begins when its provider has capacity, or else with its job. */
export interface WaitingStart extends AttemptRef {
  readonly provider: ChannelProvider;
  readonly key: ProviderKey;
  readonly backlog: Backlog;
  /** When its job is due. */
  readonly jobDueAt: number;
}

/** One in memory. */
interface Waiting {
  readonly start: WaitingStart;
  readonly backlog: Backlog;
  readonly line: ProviderLine;
  /** It counts as in flight no longer. */
  readonly end: () => void;
}

/** What waits for one provider. */
interface ProviderLine {
  readonly provider: ChannelProvider;
  readonly starts: FairQueue<Waiting>;
  /** What the provider took lately, by backlog. */
  readonly taken: Map<string, TakenCount>;
}

/**
 * Attempts that wait until their provider hands them over soon. One that is begun and not handed over when its process dies is
 * never submitted, because nobody knows that it was not. One that waits here has a job, due when it has waited for long enough:
 * after a crash another process begins it then. The most urgent ones begin first, and projects in rotation. While one waits it
 * counts as in flight, so that no more wait than may be.
 */
export class WaitingStarts {
  readonly #ports: WaitingPorts;
  /** By the name of the provider. */
  readonly #lines = new Map<string, ProviderLine>();
  /** All of them, the one whose job is due first in front. */
  readonly #starts = new Set<Waiting>();
  /** Those whose provider may have capacity. */
  readonly #changed = new Set<ProviderLine>();
  #tellsSoon = false;
  #forgotAt = 0;
  #onCapacity = (): void => {};

  constructor(ports: WaitingPorts) {
    this.#ports = ports;
  }

  /** Called when waiting starts may be taken. */
  whenCapacity(listener: () => void): void {
    this.#onCapacity = listener;
  }

  /**
   * Says of one attempt after the other whether it may begin now; those that may count for those after them. What waits here goes
   * before it.
   */
  admission(): (provider: ChannelProvider, backlog: Backlog) => boolean {
    this.#dropOverdue();
    this.#forgetTaken();
    const shares = new Map<ProviderLine, Share>();
    return (provider, backlog) => {
      if (provider.capacity(backlog) === UNLIMITED_CAPACITY) return true;
      const line = this.#lineOf(provider);
      const share = shares.get(line) ?? this.#shareOf(line, 'behind those that wait');
      shares.set(line, share);
      const mayBegin = share.allows(backlog);
      if (mayBegin) share.use(backlog);
      return mayBegin;
    };
  }

  /** Whether the provider has capacity for an attempt of the backlog, whatever waits here. */
  hasCapacity(provider: ChannelProvider, backlog: Backlog): boolean {
    return this.#shareOf(this.#lineOf(provider)).allows(backlog);
  }

  /** They wait, behind the others of their backlog. */
  add(starts: readonly WaitingStart[]): void {
    for (const start of starts) {
      const { provider, key, backlog } = start;
      const line = this.#lineOf(provider);
      const waiting = { start, backlog, line, end: this.#ports.submissionCapacity.begin(key, backlog) };
      line.starts.add(waiting);
      this.#starts.add(waiting);
      // What it waits for may have ended before it was added.
      this.#change(line);
    }
  }

  /** A submission to the provider has its result. */
  settled(provider: ChannelProvider): void {
    const line = this.#lines.get(provider.name);
    if (line !== undefined) this.#change(line);
  }

  /** Takes those that may begin now. They wait no longer. */
  takeReady(): readonly WaitingStart[] {
    this.#dropOverdue();
    const ready: WaitingStart[] = [];
    for (const line of this.#changed) {
      const share = this.#shareOf(line);
      const take = () => line.starts.take(Number.POSITIVE_INFINITY, ({ backlog }) => share.allows(backlog));
      for (let waiting = take(); waiting !== null; waiting = take()) {
        share.use(waiting.backlog);
        this.#end(waiting);
        ready.push(waiting.start);
        if (ready.length === WAITING_STARTS_BATCH_MAX) return ready;
      }
      this.#changed.delete(line);
    }
    return ready;
  }

  #change(line: ProviderLine): void {
    if (line.starts.isEmpty) return;
    this.#changed.add(line);
    if (this.#tellsSoon) return;
    this.#tellsSoon = true;
    // After all that changes with it.
    queueMicrotask(() => {
      this.#tellsSoon = false;
      this.#onCapacity();
    });
  }

  #shareOf({ provider, starts, taken }: ProviderLine, place?: 'behind those that wait'): Share {
    const now = this.#ports.clock.now();
    const ahead = (backlog: Backlog) =>
      place === undefined ? NOBODY_AHEAD : { ofAll: starts.size, ofBacklog: starts.waitingOf(backlog) };
    return new Share((backlog) => {
      const { free, waiting } = provider.capacity(backlog);
      const { ofAll, ofBacklog } = ahead(backlog);
      const mayWait = waitingMax(takenLately(taken.get(keyOf(backlog)) ?? NONE_TAKEN, now));
      return { free: free - ofAll, mayWait: mayWait - waiting - ofBacklog };
    });
  }

  #lineOf(provider: ChannelProvider): ProviderLine {
    const known = this.#lines.get(provider.name);
    if (known !== undefined) return known;
    const line: ProviderLine = {
      provider,
      starts: new FairQueue(() => this.#ports.clock.now()),
      taken: new Map(),
    };
    this.#lines.set(provider.name, line);
    provider.whenHandedOver((backlog) => {
      const key = keyOf(backlog);
      line.taken.set(key, withOneTaken(line.taken.get(key) ?? NONE_TAKEN, this.#ports.clock.now()));
      this.#change(line);
    });
    return line;
  }

  #end(waiting: Waiting): void {
    this.#starts.delete(waiting);
    waiting.end();
  }

  /** Their jobs begin them; also those that were due long after now, because the clock was put back. */
  #dropOverdue(): void {
    const now = this.#ports.clock.now();
    for (const waiting of this.#starts) {
      const leftMs = waiting.start.jobDueAt - now;
      if (leftMs > 0 && leftMs <= PROVIDER_WAIT_MS) break;
      waiting.line.starts.drop(waiting);
      this.#end(waiting);
    }
  }

  #forgetTaken(): void {
    const now = this.#ports.clock.now();
    if (Math.abs(now - this.#forgotAt) < FORGET_AFTER_MS) return;
    this.#forgotAt = now;
    for (const { taken } of this.#lines.values()) {
      for (const [key, count] of taken) if (takenLately(count, now) === 0) taken.delete(key);
    }
  }
}

/** Of one backlog: how many go out at once, before any are used, and how many more may wait. */
interface Left {
  readonly free: number;
  mayWait: number;
}

/**
 * What may begin at one provider at a time: as many as go out at once, of whatever backlog, and besides them as many of each
 * backlog as may wait there.
 */
class Share {
  readonly #leftAtFirst: (backlog: Backlog) => Left;
  /** How many have been used of what goes out at once. */
  #used = 0;
  readonly #left = new Map<string, Left>();

  constructor(leftAtFirst: (backlog: Backlog) => Left) {
    this.#leftAtFirst = leftAtFirst;
  }

  allows(backlog: Backlog): boolean {
    const { free, mayWait } = this.#leftOf(backlog);
    return free > this.#used || mayWait > 0;
  }

  use(backlog: Backlog): void {
    const left = this.#leftOf(backlog);
    if (left.free === Number.POSITIVE_INFINITY) return;
    if (left.free > this.#used) this.#used += 1;
    else left.mayWait -= 1;
  }

  #leftOf(backlog: Backlog): Left {
    const key = keyOf(backlog);
    const left = this.#left.get(key) ?? this.#leftAtFirst(backlog);
    this.#left.set(key, left);
    return left;
  }
}

function keyOf({ priority, projectId }: Backlog): string {
  return `${priority} ${projectId}`;
}

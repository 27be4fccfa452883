import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { AttemptRef } from '../../domain/messages/attempt-name.ts';
import {
  mayBegin,
  NONE_TAKEN,
  type ProviderCapacity,
  type TakenCount,
  takenLately,
  UNLIMITED_CAPACITY,
  withOneTaken,
} from '../../domain/messages/submission-share.ts';
import type { ChannelProvider } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { ProviderKey, SubmissionCapacity } from './submission-capacity.ts';

/** So many are begun in one transaction. */
export const WAITING_STARTS_BATCH_MAX = 256;
/** Backlogs without waiting starts that were not used for so long are forgotten, in milliseconds. */
const FORGET_AFTER_MS = 10_000;

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
  readonly own: ProviderBacklog;
  /** It counts as in flight no longer. */
  readonly end: () => void;
}

/** What one backlog has at one provider. */
interface ProviderBacklog {
  readonly provider: ChannelProvider;
  readonly backlog: Backlog;
  /** In order. */
  readonly starts: Set<Waiting>;
  taken: TakenCount;
  /** When it was used last. */
  usedAt: number;
}

/**
 * Attempts that wait until their provider hands them over soon. One that is begun and not handed over when its process dies is
 * never submitted, because nobody knows that it was not. One that waits here has a job, due when it has waited for long enough:
 * after a crash another process begins it then. While it waits it counts as in flight, so that no more wait than may be.
 */
export class WaitingStarts {
  readonly #ports: WaitingPorts;
  readonly #backlogs = new Map<string, ProviderBacklog>();
  /** All of them, the one whose job is due first in front. */
  readonly #starts = new Set<Waiting>();
  /** Those whose provider took or rejected something. */
  readonly #changed = new Set<ProviderBacklog>();
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

  /** Says of one attempt after the other whether it may begin now; those that may count for those after them. */
  admission(): (provider: ChannelProvider, backlog: Backlog) => boolean {
    this.#dropOverdue();
    this.#forgetIdle();
    const left = new Map<ProviderBacklog, number>();
    return (provider, backlog) => {
      const capacity = provider.capacity(backlog);
      if (capacity === UNLIMITED_CAPACITY) return true;
      const own = this.#backlogOf(provider, backlog);
      const count = left.get(own) ?? this.#mayBegin(own, capacity);
      if (count <= 0) return false;
      left.set(own, count - 1);
      return true;
    };
  }

  /** Whether an attempt of the backlog may begin now. */
  hasCapacity(provider: ChannelProvider, backlog: Backlog): boolean {
    return this.admission()(provider, backlog);
  }

  /** They wait, behind the others of their backlog. */
  add(starts: readonly WaitingStart[]): void {
    for (const start of starts) {
      const own = this.#backlogOf(start.provider, start.backlog);
      const waiting = { start, own, end: this.#ports.submissionCapacity.begin(start.key, start.backlog) };
      own.starts.add(waiting);
      this.#starts.add(waiting);
      // What it waited for may have ended before it was added.
      this.#changed.add(own);
    }
    if (this.#changed.size > 0) this.#tellSoon();
  }

  /** A submission has its result; `isTaken` unless the provider may take it later. */
  settled(provider: ChannelProvider, backlog: Backlog, isTaken: boolean): void {
    const own = this.#backlogOf(provider, backlog);
    if (isTaken) own.taken = withOneTaken(own.taken, this.#ports.clock.now());
    if (own.starts.size === 0) return;
    this.#changed.add(own);
    this.#tellSoon();
  }

  /** Takes those that may begin now. They wait no longer. */
  takeReady(): readonly WaitingStart[] {
    this.#dropOverdue();
    const ready: WaitingStart[] = [];
    for (const own of this.#changed) {
      this.#changed.delete(own);
      let count = this.#mayBegin(own, own.provider.capacity(own.backlog));
      for (const waiting of own.starts) {
        if (count <= 0) break;
        if (ready.length === WAITING_STARTS_BATCH_MAX) {
          this.#changed.add(own);
          return ready;
        }
        count -= 1;
        this.#remove(waiting);
        ready.push(waiting.start);
      }
    }
    return ready;
  }

  /** After all that changes with it, and when the provider has sent what waited there. */
  #tellSoon(): void {
    if (this.#tellsSoon) return;
    this.#tellsSoon = true;
    queueMicrotask(() => {
      this.#tellsSoon = false;
      this.#onCapacity();
    });
  }

  #mayBegin({ taken }: ProviderBacklog, capacity: ProviderCapacity): number {
    return mayBegin(capacity, takenLately(taken, this.#ports.clock.now()));
  }

  #backlogOf(provider: ChannelProvider, backlog: Backlog): ProviderBacklog {
    const { priority, projectId } = backlog;
    const key = `${provider.name} ${priority} ${projectId}`;
    const own = this.#backlogs.get(key) ?? {
      provider,
      backlog: { priority, projectId },
      starts: new Set(),
      taken: NONE_TAKEN,
      usedAt: 0,
    };
    own.usedAt = this.#ports.clock.now();
    this.#backlogs.set(key, own);
    return own;
  }

  #remove(waiting: Waiting): void {
    this.#starts.delete(waiting);
    waiting.own.starts.delete(waiting);
    waiting.end();
  }

  /** Their jobs begin them. */
  #dropOverdue(): void {
    const now = this.#ports.clock.now();
    for (const waiting of this.#starts) {
      if (waiting.start.jobDueAt > now) break;
      this.#remove(waiting);
    }
  }

  #forgetIdle(): void {
    const now = this.#ports.clock.now();
    if (Math.abs(now - this.#forgotAt) < FORGET_AFTER_MS) return;
    this.#forgotAt = now;
    for (const [key, own] of this.#backlogs) {
      if (own.starts.size === 0 && own.usedAt < now - FORGET_AFTER_MS) this.#backlogs.delete(key);
    }
  }
}

import type { AttemptRef } from '../../domain/chain/attempt-name.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import { isAtRate } from '../../domain/providers/provider-capacity.ts';
import { BATCH_ITEMS_MAX } from '../batching/batch-queue.ts';
import type { ChannelProvider } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { StartBudget } from './start-budget.ts';
import { StartQueue } from './start-queue.ts';
import type { ProviderKey, SubmissionCapacity } from './submission-capacity.ts';

/** How long an attempt waits for a provider without capacity, in milliseconds. Then its job decides what becomes of it. */
export const START_WAIT_MS = 4_000;

/** How often the counts of backlogs that are handed over no longer are forgotten, in milliseconds. */
const FORGET_EVERY_MS = 10_000;

/** Whether an attempt of a backlog may begin at a provider now. */
export type MayBegin = (provider: ChannelProvider, backlog: Backlog) => boolean;

interface WaitingPorts {
  readonly submissionCapacity: Pick<SubmissionCapacity, 'begin'>;
  readonly clock: Clock;
}

/**
 * An attempt that begins as soon as its provider has capacity, and at the latest with its job. While its provider throttles its
 * project, it also begins when another one has capacity by the time that its own hands over something or has a result.
 */
export interface WaitingStart extends AttemptRef {
  readonly provider: ChannelProvider;
  readonly key: ProviderKey;
  /** The other providers of its route. */
  readonly others: readonly ChannelProvider[];
  readonly backlog: Backlog;
  /** When its job is due. */
  readonly jobDueAt: number;
  /** It has waited before, and goes before those of its backlog that have not. */
  readonly isAgain: boolean;
}

type Queue = StartQueue<Waiting>;

/** An attempt that waits, with its queue. */
interface Waiting extends WaitingStart {
  readonly queue: Queue;
  /** Ends its count as in flight. */
  readonly end: () => void;
}

/**
 * Attempts that are not begun yet, because their provider would not hand them over soon. An attempt that is begun when its
 * process dies is never submitted again, since it may have been handed over. An attempt that waits here has a job, which is due
 * when it has waited for long enough: after a crash another process begins it then. The most urgent attempts begin first, and
 * projects in rotation. While an attempt waits, it counts as in flight: `SubmissionCapacity` bounds how many do.
 */
export class WaitingStarts {
  readonly #ports: WaitingPorts;
  /** By the name of the provider. */
  readonly #queues = new Map<string, Queue>();
  /** All of them, in the order in which their jobs are due. */
  readonly #starts = new Set<Waiting>();
  /** The queues whose provider may have capacity. */
  readonly #toRecheck = new Set<Queue>();
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
   * Returns a function that tells of one attempt after another whether it may begin now. Each attempt that may begin uses up
   * capacity. Attempts that wait here go first.
   */
  newBudget(): MayBegin {
    this.#dropOverdue();
    this.#forgetCounts();
    const budgets = new Map<Queue, StartBudget>();
    return (provider, backlog) => {
      if (provider.capacity(backlog).free === Number.POSITIVE_INFINITY) return true;
      const queue = this.#queueOf(provider);
      const budget = budgets.get(queue) ?? queue.budgetForNew();
      budgets.set(queue, budget);
      const mayBegin = budget.allows(backlog);
      if (mayBegin) budget.use(backlog);
      return mayBegin;
    };
  }

  /**
   * Whether the provider has capacity for an attempt of the backlog that waited here. More urgent ones go before it, but those
   * whose projects have their share in flight do not.
   */
  hasCapacity(provider: ChannelProvider, backlog: Backlog): boolean {
    const queue = this.#queueOf(provider);
    const budget = queue.budgetForWaiting();
    return budget.passes(backlog) || (!queue.starts.hasBefore(backlog.priority) && budget.allows(backlog));
  }

  /** Of the first provider and the others, that at which an attempt waits least. */
  soonest(first: ChannelProvider, others: readonly ChannelProvider[]): ChannelProvider {
    return others.reduce((best, each) => (this.#waitOf(each) < this.#waitOf(best) ? each : best), first);
  }

  /** Adds attempts that wait, behind the others of their backlogs. */
  add(starts: readonly WaitingStart[]): void {
    for (const start of starts) {
      const { provider, key, backlog } = start;
      const queue = this.#queueOf(provider);
      const waiting = { ...start, queue, end: this.#ports.submissionCapacity.begin(key, backlog) };
      if (start.isAgain) queue.starts.addFirst(waiting);
      else queue.starts.add(waiting);
      this.#starts.add(waiting);
      // The provider may have got capacity before the attempt was added.
      this.#recheck(queue);
    }
  }

  /** Called when the provider may have more capacity than before: a submission to it has its result. */
  mayHaveCapacity(provider: ChannelProvider): void {
    const queue = this.#queues.get(provider.name);
    if (queue !== undefined) this.#recheck(queue);
  }

  /** Takes those that may begin now, as many as fit into one batch. They wait no longer. */
  takeReady(): readonly WaitingStart[] {
    this.#dropOverdue();
    const ready: WaitingStart[] = [];
    const budgets = new Map<Queue, StartBudget>();
    /** What is left for others, besides what waits there or behind what has begun there just now. */
    const budgetAt = (other: ChannelProvider): StartBudget => {
      const queue = this.#queueOf(other);
      const budget = budgets.get(queue) ?? queue.budgetForNew();
      budgets.set(queue, budget);
      return budget;
    };
    for (const queue of this.#toRecheck) {
      const own = queue.budgetForWaiting();
      budgets.set(queue, own);
      const budgetFor = ({ provider, others, backlog }: Waiting): StartBudget | undefined => {
        if (own.allows(backlog)) return own;
        if (!isAtRate(provider.capacity(backlog))) return undefined;
        const open = others.filter((each) => each.capacity(backlog).isClosed !== true);
        return open.map(budgetAt).find((budget) => budget.allows(backlog));
      };
      const take = () => queue.starts.take((waiting) => budgetFor(waiting) !== undefined);
      for (let waiting = take(); waiting !== null; waiting = take()) {
        budgetFor(waiting)?.use(waiting.backlog);
        this.#end(waiting);
        ready.push(waiting);
        if (ready.length === BATCH_ITEMS_MAX) return ready;
      }
      this.#toRecheck.delete(queue);
    }
    return ready;
  }

  #recheck(queue: Queue): void {
    if (queue.starts.isEmpty) return;
    this.#toRecheck.add(queue);
    if (this.#tellsSoon) return;
    this.#tellsSoon = true;
    // After all that changes with it.
    queueMicrotask(() => {
      this.#tellsSoon = false;
      this.#onCapacity();
    });
  }

  #waitOf(provider: ChannelProvider): number {
    return this.#queueOf(provider).expectedWait;
  }

  #queueOf(provider: ChannelProvider): Queue {
    const known = this.#queues.get(provider.name);
    if (known !== undefined) return known;
    const queue: Queue = new StartQueue(provider, this.#ports.clock);
    this.#queues.set(provider.name, queue);
    provider.whenHandedOver((backlog) => {
      queue.noteHandedOver(backlog);
      this.#recheck(queue);
    });
    return queue;
  }

  #end(waiting: Waiting): void {
    this.#starts.delete(waiting);
    waiting.end();
  }

  /** Drops the attempts whose jobs are due: the jobs begin them. */
  #dropOverdue(): void {
    const now = this.#ports.clock.now();
    for (const waiting of this.#starts) {
      const leftMs = waiting.jobDueAt - now;
      // The clock was put back: its job is far away, and those behind it are not.
      if (leftMs > START_WAIT_MS) continue;
      if (leftMs > 0) break;
      waiting.queue.starts.drop(waiting);
      this.#end(waiting);
    }
  }

  #forgetCounts(): void {
    const now = this.#ports.clock.now();
    if (Math.abs(now - this.#forgotAt) < FORGET_EVERY_MS) return;
    this.#forgotAt = now;
    for (const queue of this.#queues.values()) queue.forgetCounts();
  }
}

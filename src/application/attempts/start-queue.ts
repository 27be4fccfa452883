import type { Backlog } from '../../domain/jobs/fair-share.ts';
import { NO_PROJECT } from '../../domain/providers/provider-capacity.ts';
import {
  HANDED_OVER_PERIOD_MS,
  waitingInAllMax,
  waitingMax,
  waitingShare,
} from '../../domain/providers/waiting-limits.ts';
import { periodAt } from '../../domain/shared/recent-count.ts';
import { PriorityQueue } from '../concurrency/priority-queue.ts';
import type { ChannelProvider } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import { HandedOver } from './handed-over.ts';
import { StartBudget } from './start-budget.ts';

/**
 * The attempts that wait to begin at one provider, and how many may begin there. That depends on what the provider takes at once,
 * on what waits inside it, and on what it handed over lately.
 */
export class StartQueue<Start extends { readonly backlog: Backlog }> {
  /** The most urgent comes first, and projects in rotation. */
  readonly starts = new PriorityQueue<Start>();
  readonly #provider: ChannelProvider;
  readonly #clock: Clock;
  readonly #handedOver = new HandedOver();

  constructor(provider: ChannelProvider, clock: Clock) {
    this.#provider = provider;
    this.#clock = clock;
  }

  /** Notes that the provider has handed over one submission of the backlog. */
  noteHandedOver(backlog: Backlog): void {
    this.#handedOver.note(backlog, this.#period());
  }

  /** Forgets the counts of backlogs that are handed over no longer. */
  forgetCounts(): void {
    this.#handedOver.forget(this.#period());
  }

  /** How long one more would wait here, in periods, when the provider goes on as in the last one. */
  get expectedWait(): number {
    return (this.starts.size + 1) / Math.max(1, this.#handedOver.ofAll(this.#period()));
  }

  /** How much of what waits here may begin now. */
  budgetForWaiting(): StartBudget {
    return this.#budgetBehind(NOTHING);
  }

  /** How much may begin now besides what waits here, which goes first. */
  budgetForNew(): StartBudget {
    return this.#budgetBehind(this.starts);
  }

  #budgetBehind(first: WaitingFirst): StartBudget {
    const provider = this.#provider;
    const handedOver = this.#handedOver;
    const period = this.#period();
    return new StartBudget({
      ofPriority: (priority) => {
        const { free, ahead } = provider.capacity({ priority, projectId: NO_PROJECT });
        const allAhead = ahead + first.sizeAhead(priority);
        return {
          atOnce: free - first.size,
          shared: waitingShare(handedOver.lessUrgentThan(priority, period)) - allAhead,
          inAll: waitingInAllMax(handedOver.ofAll(period)) - allAhead,
        };
      },
      ofProject: (backlog) => provider.capacity(backlog).ofRate ?? Number.POSITIVE_INFINITY,
      ofBacklog: (backlog) =>
        waitingMax(handedOver.ofBacklog(backlog, period)) -
        provider.capacity(backlog).waiting -
        first.sizeOf(backlog),
      passing: (backlog) => provider.capacity(backlog).passing - first.sizeOf(backlog),
      passingInAll: provider.capacity({ priority: 'code', projectId: NO_PROJECT }).passing,
    });
  }

  #period(): number {
    return periodAt(this.#clock.now(), HANDED_OVER_PERIOD_MS);
  }
}

/** What goes before that for which a budget is made. */
type WaitingFirst = Pick<PriorityQueue<never>, 'size' | 'sizeAhead' | 'sizeOf'>;

const NOTHING: WaitingFirst = { size: 0, sizeAhead: () => 0, sizeOf: () => 0 };

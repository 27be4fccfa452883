import type { Project } from '../../domain/access/project.ts';
import { mayOnlyWait } from '../../domain/chain/busy-retry.ts';
import { messagePriority } from '../../domain/jobs/job-priority.ts';
import type { Message } from '../../domain/messages/message.ts';
import { isAtRate } from '../../domain/providers/provider-capacity.ts';
import type { ChannelProvider, ChannelProviders } from '../ports/channel-provider.ts';
import type { Stores } from '../ports/stores.ts';
import type { CampaignLimits, StartingMessage } from './campaign-limits.ts';
import type { ProviderKey, SubmissionCapacity } from './submission-capacity.ts';
import { type MayBegin, START_WAIT_MS, type WaitingStart, type WaitingStarts } from './waiting-starts.ts';

/** An attempt of a project whose submit results wait for a lock starts this much later, in milliseconds. */
export const LOCKED_RETRY_MS = 1_000;

interface AdmitPorts {
  readonly channelProviders: Pick<ChannelProviders, 'route'>;
  readonly submissionCapacity: SubmissionCapacity;
  readonly waitingStarts: Pick<WaitingStarts, 'newBudget' | 'soonest'>;
  readonly campaignLimits: CampaignLimits;
}

/** An attempt that is about to start. */
export interface AttemptStart {
  readonly message: Message;
  readonly attemptNumber: number;
  /** It waited for its provider, which has capacity. */
  readonly isReady: boolean;
  /** It has waited for its provider for as long as it may while there is something else to try. */
  readonly hasWaited: boolean;
}

/** What decides when attempts start, beside their providers and campaigns. */
export interface StartSurroundings {
  readonly projects: ReadonlyMap<string, Project>;
  /** Whether attempts of the project start later, because a lock holds up its submit results. */
  readonly isLocked: (projectId: string) => boolean;
  readonly now: number;
}

/** When an attempt starts that does not start now. */
export interface Postponed {
  readonly at: number;
  /** It has waited for its provider, by then, for as long as it may while there is something else to try. */
  readonly hasWaited: boolean;
  /** Present when the attempt starts earlier once its provider has capacity. */
  readonly waiting?: WaitingStart;
}

/** Decides which attempts start now. */
export class AdmitStarts {
  readonly #ports: AdmitPorts;

  constructor(ports: AdmitPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves with when the postponed attempts start, by message: attempts of a locked project, of a provider at its limit or
   * without capacity, and of campaigns that have to wait. An attempt that waits for another reason than its campaign neither
   * counts for the rate of the campaign nor opens a conversation. An attempt that has waited for a provider waits again only when
   * that is all it may do.
   */
  async execute(
    stores: Stores,
    starts: readonly AttemptStart[],
    { projects, isLocked, now }: StartSurroundings,
  ): Promise<ReadonlyMap<string, Postponed>> {
    const { waitingStarts, campaignLimits } = this.#ports;
    const mayBegin = waitingStarts.newBudget();
    const postponed = new Map<string, Postponed>();
    const ready: StartingMessage[] = [];
    for (const start of starts) {
      const { message } = start;
      const project = projects.get(message.projectId);
      const later = isLocked(message.projectId)
        ? { at: now + LOCKED_RETRY_MS, hasWaited: start.hasWaited || start.isReady }
        : start.isReady
          ? null
          : this.#postponedByProvider(start, project, mayBegin, now);
      if (later !== null) postponed.set(message.smsId, later);
      else if (project !== undefined) ready.push({ message, project });
    }
    for (const [smsId, at] of await campaignLimits.admit(stores, ready, now)) {
      postponed.set(smsId, { at, hasWaited: false });
    }
    return postponed;
  }

  /**
   * Asks the first provider of the route: a later one only gets what that one did not take. While that one throttles the project,
   * an attempt goes to whichever has capacity first; so does one that may only wait, for all of them have rejected it.
   */
  #postponedByProvider(
    { message, attemptNumber, hasWaited }: AttemptStart,
    project: Project | undefined,
    mayBegin: MayBegin,
    now: number,
  ): Postponed | null {
    const { channelProviders, submissionCapacity, waitingStarts } = this.#ports;
    const channel = message.channels[attemptNumber];
    if (project === undefined || channel === undefined) return null;
    const { environment } = project;
    const { smsId, projectId, phoneNumber } = message;
    const route = channelProviders.route(channel, environment, phoneNumber);
    const isOnlyWaiting = mayOnlyWait(message, attemptNumber, now);
    if (hasWaited && !isOnlyWaiting) return null;
    const backlog = { priority: messagePriority(message), projectId };
    const isForAny = isOnlyWaiting || isAtRate(route[0]?.capacity(backlog));
    const open = route.filter((each) => each.capacity(backlog).isClosed !== true);
    const asked = isForAny ? open : route.slice(0, 1);
    const keyOf = ({ name }: ChannelProvider): ProviderKey => ({ channel, environment, provider: name });
    const retryAts = asked.map((each) => submissionCapacity.retryAt(keyOf(each), backlog, now));
    const [first, ...others] = asked.filter((_, index) => retryAts[index] === null);
    if (first === undefined)
      return asked.length === 0 ? null : { at: Math.min(...retryAts.map(Number)), hasWaited };
    if ([first, ...others].some((each) => mayBegin(each, backlog))) return null;
    const provider = waitingStarts.soonest(first, others);
    const at = now + START_WAIT_MS;
    return {
      at,
      hasWaited: true,
      waiting: {
        smsId,
        attemptNumber,
        provider,
        key: keyOf(provider),
        others: open.filter((each) => each !== provider),
        backlog,
        jobDueAt: at,
        isAgain: isOnlyWaiting,
      },
    };
  }
}

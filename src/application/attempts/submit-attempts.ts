import { messagePriority } from '../../domain/jobs/job-priority.ts';
import { textOf } from '../../domain/messages/verification-text.ts';
import { freeForProject, isAtRate } from '../../domain/providers/provider-capacity.ts';
import {
  isForLater,
  isForNextProvider,
  rejectedAs,
  type SubmitResult,
  unknownResult,
} from '../../domain/providers/submit-result.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import {
  type ChannelProvider,
  type ChannelProviders,
  type Submission,
  WAITED_TOO_LONG_REASON,
} from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { PendingSubmission } from './advance-messages.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';
import type { SubmissionCapacity } from './submission-capacity.ts';
import type { WaitingStarts } from './waiting-starts.ts';

interface SubmitPorts {
  readonly applyMessageEvents: ApplyMessageEvents;
  readonly channelProviders: Pick<ChannelProviders, 'route'>;
  readonly submissionCapacity: SubmissionCapacity;
  readonly waitingStarts: WaitingStarts;
  /** Expires after `SUBMIT_TIMEOUT_MS`. */
  readonly submitTimeout: Timeout;
  readonly background: Pick<BackgroundWork, 'start'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Records a submit result of one start of an attempt. */
type RecordResult = (called: Called) => Promise<void>;

/** A submit result, and the provider it comes from; without one when no provider was called. */
interface Called {
  readonly provider?: string;
  readonly result: SubmitResult;
}

interface SubmitOptions {
  /** When the chain moves on, in milliseconds since 1970. */
  readonly endsAt: number;
  /** The attempt has waited for as long as it may: it does not wait inside a provider, too. */
  readonly hasWaited: boolean;
  /** A busy provider made the attempt start again. */
  readonly isTriedAgain: boolean;
}

const LATE_REASON = 'The provider did not respond in time';
const FAULT_REASON = 'The provider failed while it was called';

/** How much of the time of an attempt may have passed before its provider is told of a shorter one, in milliseconds. */
export const TIMEOUT_TOLERANCE_MS = 1_000;

/** No route of the channel is for this number, or the message outlived the configuration. */
const NO_PROVIDER = rejectedAs('message', 'The channel has no provider for this number');

/** The attempt has waited, and the provider has no capacity for it. */
const WAITED_TOO_LONG = rejectedAs('limited', WAITED_TOO_LONG_REASON);

/**
 * Submits committed attempts to their channel providers and records the submit results. A crash in between leaves
 * attempts whose outcome is unknown: their deadline job, which is committed already, moves the chain on.
 */
export class SubmitAttempts {
  readonly #ports: SubmitPorts;

  constructor(ports: SubmitPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when every result is recorded. When some results could not be recorded, rejects once all others are. A provider that
   * did not respond within `SUBMIT_TIMEOUT_MS` counts as `unknown`; its late result is recorded when it comes.
   */
  async execute(pending: readonly PendingSubmission[]): Promise<void> {
    const now = this.#ports.clock.now();
    const outcomes = await Promise.allSettled(
      pending.map((each) => {
        const submission = submissionOf(each);
        const endsAt = endOf(each);
        if (submission === null || now >= endsAt) return null;
        const { smsId, attemptNumber, channel } = submission;
        const { startId, triedSince } = each.message.attempts[attemptNumber] ?? {};
        const record: RecordResult = (called) =>
          this.#ports.applyMessageEvents.submitted({ smsId, attemptNumber, channel, startId, ...called });
        return this.#submit(submission, record, {
          endsAt,
          hasWaited: each.hasWaited,
          isTriedAgain: triedSince !== undefined,
        });
      }),
    );
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (failures.length === 0) return;
    throw new Error(`${failures.length} submit results were not recorded`, { cause: failures[0]?.reason });
  }

  /**
   * Calls the providers of the route one after another, until a result needs no other provider, or the chain moves on at
   * `endsAt`. An attempt that is tried again may have waited for any of them: it begins with those where it does not wait, and
   * goes on with those that have capacity. So does every attempt while the first provider throttles its project.
   */
  async #submit(
    submission: Submission,
    record: RecordResult,
    { endsAt, hasWaited, isTriedAgain }: SubmitOptions,
  ): Promise<void> {
    const { clock, channelProviders, waitingStarts } = this.#ports;
    const { channel, environment, phoneNumber } = submission;
    const hasCapacity = (provider: ChannelProvider): boolean =>
      waitingStarts.hasCapacity(provider, submission);
    const route = channelProviders.route(channel, environment, phoneNumber);
    const isForAny = isTriedAgain || isAtRate(route[0]?.capacity(submission));
    const isFree = (provider: ChannelProvider): boolean => freeForProject(provider.capacity(submission)) > 0;
    const inOrder = isForAny ? firstThose(isFree, firstThose(hasCapacity, route)) : route;
    let last: Called = { result: NO_PROVIDER };
    let leftMs = endsAt - clock.now();
    /** The result of a provider that may take the message later. */
    let later: Called | null = null;
    for (const provider of inOrder) {
      const isFull = hasWaited && !hasCapacity(provider);
      const result = isFull
        ? WAITED_TOO_LONG
        : await this.#call(provider, endingWithin(submission, leftMs), record);
      last = { provider: provider.name, result };
      leftMs = endsAt - clock.now();
      if (!isForNextProvider(result) || leftMs <= 0) break;
      if (isForLater(result)) later = last;
    }
    await record(outcomeOf(last, later));
  }

  /** What the provider said in time. Never rejects: a provider that throws leaves the outcome unknown. */
  #call(provider: ChannelProvider, submission: Submission, record: RecordResult): Promise<SubmitResult> {
    const { submissionCapacity, waitingStarts, submitTimeout, background, logger } = this.#ports;
    const { channel, environment } = submission;
    const of = { channel, provider: provider.name };
    const end = submissionCapacity.begin({ ...of, environment }, submission);
    return new Promise((resolve) => {
      let isLate = false;
      const settle = (result: SubmitResult): void => {
        if (isLate) {
          // A stop waits for it: only this result has the ids.
          background.start(() => this.#recordLate(channel, record, { provider: provider.name, result }));
          return;
        }
        cancel();
        // Results that wait for a lock of one project take no capacity from the others.
        end();
        waitingStarts.mayHaveCapacity(provider);
        resolve(result);
      };
      const cancel = submitTimeout(() => {
        isLate = true;
        end();
        waitingStarts.mayHaveCapacity(provider);
        logger.warn('channel_submit_timed_out', of);
        resolve(unknownResult(LATE_REASON));
      });
      call(provider, submission).then(settle, (error: unknown) => {
        logger.error('channel_submit_failed', error, of);
        settle(unknownResult(FAULT_REASON));
      });
    });
  }

  /** The attempt is `unknown` already: a late `accepted` brings the ids of receipts, a late `rejected` moves the chain on. */
  async #recordLate(channel: Channel, record: RecordResult, called: Called): Promise<void> {
    try {
      await record(called);
    } catch (error) {
      this.#ports.logger.error('channel_result_lost', error, { channel });
    }
  }
}

/** A provider that throws at once rejects. */
async function call(provider: ChannelProvider, submission: Submission): Promise<SubmitResult> {
  return provider.submit(submission);
}

/** The providers of which something holds, and then the others. */
function firstThose(
  holds: (provider: ChannelProvider) => boolean,
  route: readonly ChannelProvider[],
): readonly ChannelProvider[] {
  if (route.length === 1) return route;
  const first = route.filter(holds);
  return [...first, ...route.filter((provider) => !first.includes(provider))];
}

/** The last provider may not know the sender, while an earlier one that was busy or at a limit may take the message later. */
function outcomeOf(last: Called, later: Called | null): Called {
  const { result } = last;
  return later !== null && result.kind === 'rejected' && result.cause === 'sender' ? later : last;
}

/** The submission as a provider gets it when `leftMs` are left of the attempt: the chain moves on after them. */
function endingWithin(submission: Submission, leftMs: number): Submission {
  return leftMs > submission.attemptTimeoutMs - TIMEOUT_TOLERANCE_MS
    ? submission
    : { ...submission, attemptTimeoutMs: leftMs };
}

/**
 * When the time of the attempt is over. A worker that was stopped between the commit and the call must not send what the chain
 * gave up on.
 */
function endOf({ message, attemptNumber }: PendingSubmission): number {
  return (message.attempts[attemptNumber]?.startedAt ?? 0) + message.attemptTimeoutMs;
}

function submissionOf({ message, project, attemptNumber }: PendingSubmission): Submission | null {
  const channel = message.channels[attemptNumber];
  if (channel === undefined) return null;
  return {
    smsId: message.smsId,
    attemptNumber,
    channel,
    projectId: message.projectId,
    environment: project.environment,
    phoneNumber: message.phoneNumber,
    senderId: message.senderId,
    whatsappSender: message.whatsappSender,
    content: message.content,
    text: textOf(project.settings.language, message.content),
    attemptTimeoutMs: message.attemptTimeoutMs,
    priority: messagePriority(message),
  };
}

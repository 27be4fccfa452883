import { messagePriority } from '../../domain/jobs/job-priority.ts';
import type { SubmitResult } from '../../domain/messages/chain-event.ts';
import {
  isForLater,
  isForNextProvider,
  rejectedAs,
  unknownResult,
} from '../../domain/messages/submit-result.ts';
import { textOf } from '../../domain/messages/verification-text.ts';
import { groupBy } from '../group-by.ts';
import type { ChannelProvider, ChannelProviders, Submission } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { PendingSubmission } from './advance-messages.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';
import type { SubmissionCapacity } from './submission-capacity.ts';

interface SubmitPorts {
  readonly applyMessageEvents: ApplyMessageEvents;
  readonly channelProviders: Pick<ChannelProviders, 'route'>;
  readonly submissionCapacity: SubmissionCapacity;
  /** Expires after `SUBMIT_TIMEOUT_MS`. */
  readonly submitTimeout: Timeout;
  readonly clock: Clock;
  readonly logger: Logger;
}

type SubmitResults = readonly SubmitResult[];

/** A submission and the providers that were not tried for it yet. */
interface RoutedSubmission {
  readonly submission: Submission;
  /** The chain moves on at this instant. */
  readonly endsAt: number;
  readonly route: readonly ChannelProvider[];
  /** What a provider said that may take it later; null while none did. */
  readonly later: SubmitResult | null;
}

const LATE_REASON = 'The provider did not respond in time';
const FAULT_REASON = 'The provider failed while it was called';
const WRONG_COUNT_REASON = 'The provider gave results that cannot be matched to messages';

/** No route of the channel is for this number, or the message outlived the configuration. */
const NO_PROVIDER = rejectedAs('message', 'The channel has no provider for this number');

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
   * Resolves when every result is recorded. A provider that did not respond within `SUBMIT_TIMEOUT_MS` counts as
   * `unknown`; what it says later is recorded when it comes.
   */
  async execute(pending: readonly PendingSubmission[]): Promise<void> {
    const { clock, channelProviders } = this.#ports;
    const now = clock.now();
    const routed = pending.flatMap((each): readonly RoutedSubmission[] => {
      const submission = submissionOf(each);
      const endsAt = endOf(each);
      if (submission === null || now >= endsAt) return [];
      const { channel, environment, phoneNumber } = submission;
      const route = channelProviders.route(channel, environment, phoneNumber);
      return [{ submission, endsAt, route, later: null }];
    });
    await this.#submitByRoute(routed);
  }

  /** Those of one route go to its first provider together when their results come together. */
  async #submitByRoute(routed: readonly RoutedSubmission[]): Promise<void> {
    const groups = groupBy(routed, ({ submission: { smsId, channel, environment }, route }) =>
      route[0]?.resultsComeTogether === true
        ? [channel, environment, ...route.map(({ name }) => name)].join(' ')
        : smsId,
    );
    await Promise.all([...groups.values()].map((group) => this.#submit(group)));
  }

  /** All of them have the same route. */
  async #submit(routed: readonly RoutedSubmission[]): Promise<void> {
    const submissions = routed.map(({ submission }) => submission);
    const [first] = routed;
    if (first === undefined) return;
    const { route } = first;
    const [provider] = route;
    if (provider === undefined) {
      await this.#record(submissions, () => NO_PROVIDER);
      return;
    }
    const { channel, environment } = first.submission;
    const end = this.#ports.submissionCapacity.begin(
      { channel, environment, provider: provider.name },
      submissions,
    );
    const call = this.#call(provider, submissions);
    const results = await this.#inTime(call);
    // Results that wait for a lock of one project take no capacity from the others.
    end();
    if (results === null) void this.#recordLate(submissions, call);
    const resultOf = (index: number) => (results === null ? unknownResult(LATE_REASON) : results[index]);
    const now = this.#ports.clock.now();
    const isForNext = (each: RoutedSubmission, index: number) =>
      route.length > 1 && now < each.endsAt && isForNextProvider(resultOf(index));
    const next = routed.flatMap((each, index): readonly RoutedSubmission[] => {
      if (!isForNext(each, index)) return [];
      const result = resultOf(index) ?? null;
      return [{ ...each, route: route.slice(1), later: isForLater(result) ? result : each.later }];
    });
    const kept = routed.flatMap((each, index) =>
      isForNext(each, index)
        ? []
        : [{ submission: each.submission, result: outcomeOf(each, resultOf(index)) }],
    );
    await Promise.all([
      this.#record(
        kept.map(({ submission }) => submission),
        (index) => kept[index]?.result,
      ),
      this.#submitByRoute(next),
    ]);
  }

  /** Never rejects: a provider that throws, or gives too few or too many results, leaves every outcome unknown. */
  async #call(provider: ChannelProvider, submissions: readonly Submission[]): Promise<SubmitResults> {
    const { logger } = this.#ports;
    const of = { channel: submissions[0]?.channel, provider: provider.name };
    try {
      const results = await provider.submit(submissions);
      if (results.length === submissions.length) return results;
      logger.error('channel_submit_failed', new Error(WRONG_COUNT_REASON), of);
      return submissions.map(() => unknownResult(WRONG_COUNT_REASON));
    } catch (error) {
      logger.error('channel_submit_failed', error, of);
      return submissions.map(() => unknownResult(FAULT_REASON));
    }
  }

  /** Null when the time of the call is over. */
  #inTime(call: Promise<SubmitResults>): Promise<SubmitResults | null> {
    return new Promise((resolve) => {
      const cancel = this.#ports.submitTimeout(() => resolve(null));
      void call.then((results) => {
        cancel();
        resolve(results);
      });
    });
  }

  /** The attempts are `unknown` already: a late `accepted` brings the ids under which receipts come. */
  async #recordLate(submissions: readonly Submission[], call: Promise<SubmitResults>): Promise<void> {
    const { logger } = this.#ports;
    const channel = submissions[0]?.channel;
    logger.warn('channel_submit_timed_out', { channel, submissions: submissions.length });
    try {
      const results = await call;
      await this.#record(submissions, (index) => results[index]);
    } catch (error) {
      logger.error('channel_submit_failed', error, { channel });
    }
  }

  async #record(
    submissions: readonly Submission[],
    resultOf: (index: number) => SubmitResult | undefined,
  ): Promise<void> {
    if (submissions.length === 0) return;
    await this.#ports.applyMessageEvents.submitted(
      submissions.map(({ smsId, attemptNumber, channel }, index) => {
        const result = resultOf(index) ?? unknownResult(WRONG_COUNT_REASON);
        return { smsId, attemptNumber, channel, result };
      }),
    );
  }
}

/** The last provider may not know the sender: an earlier one that had no time still may take the message later. */
function outcomeOf({ later }: RoutedSubmission, result: SubmitResult | undefined): SubmitResult | undefined {
  return later !== null && result?.kind === 'rejected' && result.cause === 'sender' ? later : result;
}

/** A worker that was stopped between the commit and the call must not send what the chain gave up on. */
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

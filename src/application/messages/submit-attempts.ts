import type { SubmitResult } from '../../domain/messages/chain-event.ts';
import { textOf } from '../../domain/messages/verification-text.ts';
import { groupBy } from '../group-by.ts';
import type { ChannelProviders, Submission } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { PendingSubmission } from './advance-messages.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';
import type { SubmissionCapacity } from './submission-capacity.ts';

interface SubmitPorts {
  readonly applyMessageEvents: ApplyMessageEvents;
  readonly channelProviders: ChannelProviders;
  readonly submissionCapacity: SubmissionCapacity;
  /** Expires after `SUBMIT_TIMEOUT_MS`. */
  readonly submitTimeout: Timeout;
  readonly clock: Clock;
  readonly logger: Logger;
}

type SubmitResults = readonly SubmitResult[];

const LATE_REASON = 'The provider did not respond in time';
const FAULT_REASON = 'The provider failed while it was called';
const WRONG_COUNT_REASON = 'The provider gave results that cannot be matched to messages';

/** An accepted message outlived the configuration of its channel. */
const NO_PROVIDER: SubmitResult = {
  kind: 'rejected',
  reason: 'The channel has no provider any more',
  endsChain: false,
};

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
    const now = this.#ports.clock.now();
    const submissions = pending.flatMap((each) => {
      const submission = submissionOf(each);
      return submission === null || isTooLate(each, now) ? [] : [submission];
    });
    const groups = groupBy(submissions, ({ channel, environment }) => `${channel} ${environment}`);
    await Promise.all([...groups.values()].map((group) => this.#submit(group)));
  }

  /** All of them go to the same channel provider. */
  async #submit(submissions: readonly Submission[]): Promise<void> {
    const [first] = submissions;
    if (first === undefined) return;
    const end = this.#ports.submissionCapacity.begin(first.channel, first.environment, submissions.length);
    const call = this.#call(first, submissions);
    const results = await this.#inTime(call);
    // Results that wait for a lock of one project take no capacity from the others.
    end();
    if (results === null) void this.#recordLate(submissions, call);
    await this.#record(submissions, results ?? submissions.map(() => unknown(LATE_REASON)));
  }

  /** Never rejects: a provider that throws, or gives too few or too many results, leaves every outcome unknown. */
  async #call(
    { channel, environment }: Submission,
    submissions: readonly Submission[],
  ): Promise<SubmitResults> {
    const { channelProviders, logger } = this.#ports;
    try {
      const provider = channelProviders.of(channel, environment);
      if (provider === null) return submissions.map(() => NO_PROVIDER);
      const results = await provider.submit(submissions);
      if (results.length === submissions.length) return results;
      logger.error('channel_submit_failed', new Error(WRONG_COUNT_REASON), { channel });
      return submissions.map(() => unknown(WRONG_COUNT_REASON));
    } catch (error) {
      logger.error('channel_submit_failed', error, { channel });
      return submissions.map(() => unknown(FAULT_REASON));
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
      await this.#record(submissions, await call);
    } catch (error) {
      logger.error('channel_submit_failed', error, { channel });
    }
  }

  async #record(submissions: readonly Submission[], results: SubmitResults): Promise<void> {
    await this.#ports.applyMessageEvents.submitted(
      submissions.map(({ smsId, attemptNumber, channel }, index) => {
        const result = results[index] ?? unknown(WRONG_COUNT_REASON);
        return { smsId, attemptNumber, channel, result };
      }),
    );
  }
}

function unknown(reason: string): SubmitResult {
  return { kind: 'unknown', reason, providerMessageIds: [] };
}

/** A worker that was stopped between the commit and the call must not send what the chain gave up on. */
function isTooLate({ message, attemptNumber }: PendingSubmission, now: number): boolean {
  return now >= (message.attempts[attemptNumber]?.startedAt ?? 0) + message.attemptTimeoutMs;
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
  };
}

import type { Project } from '../../domain/access/project.ts';
import type { SubmitResult } from '../../domain/messages/chain-event.ts';
import { textOf } from '../../domain/messages/verification-text.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import type { ChannelProviders, Submission } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { MessageEvent, PendingSubmission } from './advance-messages.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';

interface SubmitPorts {
  readonly applyMessageEvents: ApplyMessageEvents;
  readonly channelProviders: ChannelProviders;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Hands committed attempts to their channels and records what the channels said. A crash in between leaves attempts
 * whose outcome is unknown: their deadline, which is committed already, moves the chain on.
 */
export class SubmitAttempts {
  readonly #ports: SubmitPorts;

  constructor(ports: SubmitPorts) {
    this.#ports = ports;
  }

  /** Resolves when every result is recorded. */
  async execute(
    started: readonly PendingSubmission[],
    projects: ReadonlyMap<string, Project>,
  ): Promise<void> {
    const now = this.#ports.clock.now();
    const groups = new Map<string, Submission[]>();
    for (const pending of started) {
      const submission = submissionOf(pending, projects);
      if (submission === null || isTooLate(pending, now)) continue;
      const key = `${submission.channel} ${submission.environment}`;
      const group = groups.get(key) ?? [];
      group.push(submission);
      groups.set(key, group);
    }
    await Promise.all([...groups.values()].map((submissions) => this.#submit(submissions)));
  }

  async #submit(submissions: readonly Submission[]): Promise<void> {
    const [first] = submissions;
    if (first === undefined) return;
    const results = await this.#ask(first.channel, submissions);
    const news = submissions.map(({ smsId, attemptNumber }, index): MessageEvent => {
      const result = results[index] ?? { kind: 'unknown', reason: 'The provider did not respond' };
      return { smsId, event: { kind: 'submitted', attemptNumber, result } };
    });
    await this.#ports.applyMessageEvents.execute(news);
  }

  async #ask(channel: Channel, submissions: readonly Submission[]): Promise<readonly SubmitResult[]> {
    const [first] = submissions;
    if (first === undefined) return [];
    try {
      return await this.#ports.channelProviders.of(channel, first.environment).submit(submissions);
    } catch (error) {
      this.#ports.logger.error('channel_submit_failed', error, { channel });
      return submissions.map(() => ({ kind: 'unknown', reason: 'The channel failed while it was called' }));
    }
  }
}

/** A worker that was stopped between the commit and the call must not send what the chain gave up on. */
function isTooLate({ message, attemptNumber }: PendingSubmission, now: number): boolean {
  return now >= (message.attempts[attemptNumber]?.startedAt ?? 0) + message.attemptTimeoutMs;
}

function submissionOf(
  { message, attemptNumber }: PendingSubmission,
  projects: ReadonlyMap<string, Project>,
): Submission | null {
  const project = projects.get(message.projectId);
  const channel = message.channels[attemptNumber];
  if (project === undefined || channel === undefined) return null;
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

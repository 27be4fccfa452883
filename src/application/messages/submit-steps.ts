import type { Project } from '../../domain/access/project.ts';
import type { Answer } from '../../domain/messages/chain-event.ts';
import type { Channel } from '../../domain/messages/channel.ts';
import { textOf } from '../../domain/messages/verification-text.ts';
import type { ChannelProviders, Submission } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { MessageNews, StartedStep } from './advance-messages.ts';
import type { RecordNews } from './record-news.ts';

interface SubmitPorts {
  readonly recordNews: RecordNews;
  readonly channelProviders: ChannelProviders;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Hands committed steps to their channels and records what the channels said. A crash in between leaves steps
 * whose outcome is unknown: their deadline, which is committed already, moves the chain on.
 */
export class SubmitSteps {
  readonly #ports: SubmitPorts;

  constructor(ports: SubmitPorts) {
    this.#ports = ports;
  }

  /** Resolves when every answer is recorded. */
  async execute(started: readonly StartedStep[], projects: ReadonlyMap<string, Project>): Promise<void> {
    const now = this.#ports.clock.now();
    const groups = new Map<string, Submission[]>();
    for (const step of started) {
      const submission = submissionOf(step, projects);
      if (submission === null || isTooLate(step, now)) continue;
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
    const answers = await this.#ask(first.channel, submissions);
    const news = submissions.map(({ smsId, step }, index): MessageNews => {
      const answer = answers[index] ?? { kind: 'unknown', reason: 'The channel did not answer' };
      return { smsId, event: { kind: 'answered', step, answer } };
    });
    await this.#ports.recordNews.execute(news);
  }

  async #ask(channel: Channel, submissions: readonly Submission[]): Promise<readonly Answer[]> {
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
function isTooLate({ message, step }: StartedStep, now: number): boolean {
  return now >= (message.steps[step]?.startedAt ?? 0) + message.stepTimeoutMs;
}

function submissionOf(
  { message, step }: StartedStep,
  projects: ReadonlyMap<string, Project>,
): Submission | null {
  const project = projects.get(message.projectId);
  const channel = message.channels[step];
  if (project === undefined || channel === undefined) return null;
  return {
    smsId: message.smsId,
    step,
    channel,
    projectId: message.projectId,
    environment: project.environment,
    phoneNumber: message.phoneNumber,
    senderId: message.senderId,
    whatsappSender: message.whatsappSender,
    content: message.content,
    text: textOf(project.settings.language, message.content),
    stepTimeoutMs: message.stepTimeoutMs,
  };
}

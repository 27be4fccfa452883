import { randomUUID } from 'node:crypto';
import type {
  ChannelProvider,
  InboundArrival,
  Submission,
} from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { ProviderEvent, ProviderEventSource } from '../../application/ports/provider-events.ts';
import type { SubmitResult } from '../../domain/messages/chain-event.ts';
import { type SubmissionOutcome, submissionOutcome } from '../../domain/sandbox/sandbox-outcomes.ts';
import { Timeline } from './timeline.ts';

/** A submission as the handset would see it. */
export interface SimulatedMessage extends Submission {
  readonly submittedAt: number;
  readonly result: SubmitResult['kind'];
}

/** Decides the fate of a submission; null leaves it to the number. A promise holds the channel's result back. */
export type SimulatedScript = (
  submission: Submission,
) => SubmissionOutcome | null | Promise<SubmissionOutcome | null>;

interface SimulatorOptions {
  readonly clock: Clock;
  /** Called for each submission, accepted or not. */
  readonly onSubmission?: (message: SimulatedMessage) => void;
}

/**
 * The carriers of a service that has none: every channel, with outcomes by number (`domain/sandbox`) or by
 * script, and receipts on the service's own clock. Like a real carrier it keeps nothing for us over a restart.
 */
export class Simulator implements ChannelProvider, ProviderEventSource {
  readonly #options: SimulatorOptions;
  readonly #news = new Timeline<ProviderEvent>();
  #script: SimulatedScript = () => null;
  /** Tells its messages from those of other simulators, in other processes or before a restart. */
  readonly #id = randomUUID();
  #written = 0;

  constructor(options: SimulatorOptions) {
    this.#options = options;
  }

  /** Replaces the script; earlier submissions keep the outcome they were given. */
  follow(script: SimulatedScript): void {
    this.#script = script;
  }

  submit(submissions: readonly Submission[]): Promise<readonly SubmitResult[]> {
    return Promise.all(submissions.map((submission) => this.#take(submission)));
  }

  takeDue(now: number): readonly ProviderEvent[] {
    return this.#news.takeDue(now);
  }

  putBack(news: readonly ProviderEvent[], dueAt: number): void {
    for (const each of news) this.#news.add(dueAt, each);
  }

  /** A handset writes to one of the projects' whatsapp numbers; heard at the present instant. */
  write(arrival: Omit<InboundArrival, 'messageId' | 'writtenAt'>): void {
    this.#hear(arrival, this.#options.clock.now());
  }

  nextDueAt(): number | null {
    return this.#news.nextDueAt();
  }

  async #take(submission: Submission): Promise<SubmitResult> {
    const { smsId, attemptNumber, phoneNumber, channel, attemptTimeoutMs } = submission;
    const scripted =
      (await this.#script(submission)) ?? submissionOutcome(phoneNumber, channel, attemptNumber === 0);
    const submittedAt = this.#options.clock.now();
    for (const { afterMs, from, receipt } of scripted.receipts ?? []) {
      const start = from === 'attempt-timeout' ? submittedAt + attemptTimeoutMs : submittedAt;
      this.#news.add(start + afterMs, { kind: 'receipt', receipt: { smsId, attemptNumber, receipt } });
    }
    this.#reply(scripted, submission, submittedAt);
    const result = answerOf(scripted, submission);
    this.#options.onSubmission?.({ ...submission, submittedAt, result: result.kind });
    return result;
  }

  /** A reply goes to the number the message was sent from, so only a message sent from one gets any. */
  #reply({ reply }: SubmissionOutcome, submission: Submission, submittedAt: number): void {
    const phoneNumberId = submission.whatsappSender.phoneId;
    if (reply === undefined || phoneNumberId === null || submission.channel !== 'whatsapp') return;
    const contact = { phoneNumber: submission.phoneNumber, name: '' };
    this.#hear({ phoneNumberId, contact, content: reply.content }, submittedAt + reply.afterMs);
  }

  #hear(arrival: Omit<InboundArrival, 'messageId' | 'writtenAt'>, writtenAt: number): void {
    this.#written += 1;
    const messageId = `simulated-${this.#id}-${this.#written}`;
    this.#news.add(writtenAt, { kind: 'inbound', arrival: { ...arrival, messageId, writtenAt } });
  }
}

function answerOf({ result, reason }: SubmissionOutcome, { smsId, attemptNumber }: Submission): SubmitResult {
  switch (result) {
    case 'accepted':
      return { kind: 'accepted', providerMessageIds: [`simulated-${smsId}-${attemptNumber}`] };
    case 'rejected':
    case 'unavailable':
      return {
        kind: 'rejected',
        reason: reason ?? 'The simulated channel refused the message',
        endsChain: false,
      };
    case 'unknown':
      return { kind: 'unknown', reason: reason ?? 'The simulated channel did not respond' };
    default:
      return result satisfies never;
  }
}

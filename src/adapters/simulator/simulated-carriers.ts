import { randomUUID } from 'node:crypto';
import type { CarrierNews, CarrierNewsSource } from '../../application/ports/carrier-news.ts';
import type {
  ChannelProvider,
  InboundArrival,
  Submission,
} from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Answer } from '../../domain/messages/chain-event.ts';
import { type SimulatedStep, simulatedStep } from '../../domain/messages/magic-numbers.ts';
import { Timeline } from './timeline.ts';

/** A submission as the handset would see it. */
export interface SimulatedMessage extends Submission {
  readonly submittedAt: number;
  readonly answer: Answer['kind'];
}

/** Decides the fate of a submission; null leaves it to the number. A promise holds the channel's answer back. */
export type SimulatedScript = (
  submission: Submission,
) => SimulatedStep | null | Promise<SimulatedStep | null>;

interface SimulatorOptions {
  readonly clock: Clock;
  /** Called for each submission, accepted or not. */
  readonly onSubmission?: (message: SimulatedMessage) => void;
}

/**
 * The carriers of a service that has none: every channel, with outcomes by number (`magic-numbers`) or by
 * script, and receipts on the service's own clock. Like a real carrier it keeps nothing for us over a restart.
 */
export class SimulatedCarriers implements ChannelProvider, CarrierNewsSource {
  readonly #options: SimulatorOptions;
  readonly #news = new Timeline<CarrierNews>();
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

  submit(submissions: readonly Submission[]): Promise<readonly Answer[]> {
    return Promise.all(submissions.map((submission) => this.#take(submission)));
  }

  takeDue(now: number): readonly CarrierNews[] {
    return this.#news.takeDue(now);
  }

  putBack(news: readonly CarrierNews[], dueAt: number): void {
    for (const each of news) this.#news.add(dueAt, each);
  }

  /** A handset writes to one of the projects' whatsapp numbers; heard at the present instant. */
  write(arrival: Omit<InboundArrival, 'messageId' | 'writtenAt'>): void {
    this.#hear(arrival, this.#options.clock.now());
  }

  nextDueAt(): number | null {
    return this.#news.nextDueAt();
  }

  async #take(submission: Submission): Promise<Answer> {
    const { smsId, step, phoneNumber, channel, stepTimeoutMs } = submission;
    const scripted = (await this.#script(submission)) ?? simulatedStep(phoneNumber, channel, step === 0);
    const submittedAt = this.#options.clock.now();
    for (const { afterMs, from, report } of scripted.reports ?? []) {
      const start = from === 'step-timeout' ? submittedAt + stepTimeoutMs : submittedAt;
      this.#news.add(start + afterMs, { kind: 'receipt', receipt: { smsId, step, report } });
    }
    this.#reply(scripted, submission, submittedAt);
    const answer = answerOf(scripted, submission);
    this.#options.onSubmission?.({ ...submission, submittedAt, answer: answer.kind });
    return answer;
  }

  /** A reply goes to the number the message was sent from, so only a message sent from one gets any. */
  #reply({ reply }: SimulatedStep, submission: Submission, submittedAt: number): void {
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

function answerOf({ answer, reason }: SimulatedStep, { smsId, step }: Submission): Answer {
  switch (answer) {
    case 'accepted':
      return { kind: 'accepted', reference: `simulated-${smsId}-${step}` };
    case 'refused':
    case 'unavailable':
      return {
        kind: 'refused',
        reason: reason ?? 'The simulated channel refused the message',
        endsChain: false,
      };
    case 'unknown':
      return { kind: 'unknown', reason: reason ?? 'The simulated channel did not answer' };
    default:
      return answer satisfies never;
  }
}

import type { ChannelProvider, Receipt, Submission } from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { ReceiptSource } from '../../application/ports/receipt-source.ts';
import type { Answer } from '../../domain/messages/fallback-chain.ts';
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
export class SimulatedCarriers implements ChannelProvider, ReceiptSource {
  readonly #options: SimulatorOptions;
  readonly #receipts = new Timeline<Receipt>();
  #script: SimulatedScript = () => null;

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

  takeDue(now: number): readonly Receipt[] {
    return this.#receipts.takeDue(now);
  }

  nextDueAt(): number | null {
    return this.#receipts.nextDueAt();
  }

  /** Forgets the script and every receipt that is still to come. */
  reset(): void {
    this.#script = () => null;
    this.#receipts.clear();
  }

  async #take(submission: Submission): Promise<Answer> {
    const { smsId, step, phoneNumber, channel, stepTimeoutMs } = submission;
    const scripted = (await this.#script(submission)) ?? simulatedStep(phoneNumber, channel, step === 0);
    const submittedAt = this.#options.clock.now();
    for (const { afterMs, from, report } of scripted.reports ?? []) {
      const start = from === 'step-timeout' ? submittedAt + stepTimeoutMs : submittedAt;
      this.#receipts.add(start + afterMs, { smsId, step, report });
    }
    const answer = answerOf(scripted, submission);
    this.#options.onSubmission?.({ ...submission, submittedAt, answer: answer.kind });
    return answer;
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

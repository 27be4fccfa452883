import { randomUUID } from 'node:crypto';
import type {
  ChannelProvider,
  ProviderHealth,
  Submission,
} from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type {
  InboundArrival,
  ProviderEvent,
  ProviderEventSink,
  ProviderEventSource,
} from '../../application/ports/provider-events.ts';
import { type ProviderCapacity, UNLIMITED_CAPACITY } from '../../domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';
import { type SubmissionOutcome, submissionOutcome } from '../../domain/sandbox/sandbox-outcomes.ts';
import { recordEach } from './record-each.ts';
import { Timeline } from './timeline.ts';

/** A submission as the handset would see it. */
export interface SimulatedMessage extends Submission {
  readonly submittedAt: number;
  readonly result: SubmitResult['kind'];
}

/** Decides the outcome of a submission; null leaves it to the number. A promise holds the submit result back. */
export type SimulatedScript = (
  submission: Submission,
) => SubmissionOutcome | null | Promise<SubmissionOutcome | null>;

interface SimulatorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for each submission, accepted or not. */
  readonly onSubmission?: (message: SimulatedMessage) => void;
}

/** Names the provider in the channels file, the log and the metrics. */
export const SIMULATOR = 'simulator';

/** Events that could not be recorded are due again after this time. */
export const EVENT_RETRY_MS = 1_000;

/**
 * The channel provider that carries nothing: every channel, with outcomes by number (`sandbox-outcomes`) or by script, and
 * receipts on the service's own clock. Like a real provider it keeps nothing for us over a restart.
 */
export class Simulator implements ChannelProvider, ProviderEventSource {
  readonly name = SIMULATOR;
  readonly #options: SimulatorOptions;
  readonly #events = new Timeline<ProviderEvent>();
  #sink: ProviderEventSink | null = null;
  #script: SimulatedScript = () => null;
  /** Tells its inbound messages from those of other simulators, in other processes or before a restart. */
  readonly #id = randomUUID();
  #written = 0;

  constructor(options: SimulatorOptions) {
    this.#options = options;
  }

  async start(sink: ProviderEventSink): Promise<void> {
    this.#sink = sink;
  }

  async close(): Promise<void> {
    this.#sink = null;
  }

  health(): ProviderHealth {
    return { ok: true, detail: 'simulator, nothing is sent' };
  }

  async check(): Promise<ProviderHealth> {
    return this.health();
  }

  /** Replaces the script; earlier submissions keep the outcome they were given. */
  follow(script: SimulatedScript): void {
    this.#script = script;
  }

  /** Nothing waits here. */
  whenHandedOver(): void {}

  capacity(): ProviderCapacity {
    return UNLIMITED_CAPACITY;
  }

  async submit(submission: Submission): Promise<SubmitResult> {
    const { phoneNumber, channel, attemptNumber, attemptTimeoutMs } = submission;
    const outcome =
      (await this.#script(submission)) ?? submissionOutcome(phoneNumber, channel, attemptNumber === 0);
    const submittedAt = this.#options.clock.now();
    const ids = idsOf(submission, outcome.parts ?? 1);
    for (const { afterMs, from, part, receipt } of outcome.receipts ?? []) {
      const start = from === 'attempt-timeout' ? submittedAt + attemptTimeoutMs : submittedAt;
      for (const [index, providerMessageId] of ids.entries()) {
        if (part !== undefined && part !== index + 1) continue;
        this.#events.add(start + afterMs, {
          kind: 'receipt',
          receipt: { channel, providerMessageId, receipt },
        });
      }
    }
    this.#reply(outcome, submission, submittedAt);
    const result = resultOf(outcome, ids);
    this.#options.onSubmission?.({ ...submission, submittedAt, result: result.kind });
    return result;
  }

  async deliverDue(): Promise<number> {
    const { clock, logger } = this.#options;
    const sink = this.#sink;
    if (sink === null) return 0;
    const due = this.#events.takeDue(clock.now());
    if (due.length === 0) return 0;
    const { recorded, failures } = await recordEach(due, sink);
    for (const [index, event] of due.entries()) {
      if (!recorded[index]) this.#events.add(clock.now() + EVENT_RETRY_MS, event);
    }
    if (failures.length > 0) logger.error('provider_event_failed', failures[0], { count: failures.length });
    return due.length - failures.length;
  }

  nextDueAt(): number | null {
    return this.#events.nextDueAt();
  }

  /** A handset writes to one of the projects' whatsapp numbers; it arrives at the present instant. */
  write(arrival: Omit<InboundArrival, 'messageId' | 'writtenAt'>): void {
    this.#arrive(arrival, this.#options.clock.now());
  }

  /** A reply goes to the number the message was sent from, so only a message sent from one gets any. */
  #reply({ reply }: SubmissionOutcome, submission: Submission, submittedAt: number): void {
    const whatsappPhoneId = submission.whatsappSender.phoneId;
    if (reply === undefined || whatsappPhoneId === null || submission.channel !== 'whatsapp') return;
    const contact = { phoneNumber: submission.phoneNumber, name: '' };
    this.#arrive({ whatsappPhoneId, contact, content: reply.content }, submittedAt + reply.afterMs);
  }

  #arrive(arrival: Omit<InboundArrival, 'messageId' | 'writtenAt'>, writtenAt: number): void {
    this.#written += 1;
    const messageId = `simulated-${this.#id}-${this.#written}`;
    this.#events.add(writtenAt, { kind: 'inbound', arrival: { ...arrival, messageId, writtenAt } });
  }
}

/** One id for each part of the message. */
function idsOf({ smsId, attemptNumber }: Submission, parts: number): readonly string[] {
  const id = `simulated-${smsId}-${attemptNumber}`;
  return parts === 1 ? [id] : Array.from({ length: parts }, (_, index) => `${id}-part-${index + 1}`);
}

function resultOf(
  { result, reason, cause }: SubmissionOutcome,
  providerMessageIds: readonly string[],
): SubmitResult {
  switch (result) {
    case 'accepted':
      return { kind: 'accepted', providerMessageIds };
    case 'rejected':
    case 'unavailable':
      return {
        kind: 'rejected',
        reason: reason ?? 'The simulator rejected the message',
        endsChain: false,
        ...(cause === undefined ? {} : { cause }),
      };
    case 'unknown':
      return { kind: 'unknown', reason: reason ?? 'The simulator did not respond', providerMessageIds };
    default:
      return result satisfies never;
  }
}

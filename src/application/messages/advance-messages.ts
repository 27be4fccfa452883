import { type LedgerEntry, settlementEntry } from '../../domain/billing/ledger.ts';
import { amountCaptured } from '../../domain/billing/settlement.ts';
import type { ChainEffect, ChainEvent } from '../../domain/messages/chain-event.ts';
import { advance } from '../../domain/messages/fallback-chain.ts';
import type { Message } from '../../domain/messages/message.ts';
import {
  attemptDeadlineJob,
  attemptDeadlineJobId,
  type MessageWork,
  startAttemptJob,
  startAttemptJobId,
} from '../jobs/attempt-jobs.ts';
import type { Job, LeasedJob } from '../jobs/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { MessageStatusChange, QueueWebhooks } from '../webhooks/queue-webhooks.ts';

/** One piece of news about one message. */
export interface MessageEvent {
  readonly smsId: string;
  readonly event: ChainEvent;
}

/** An attempt that is committed and now has to be handed to its channel. */
export interface PendingSubmission {
  readonly message: Message;
  readonly attemptNumber: number;
}

/**
 * Tells chains what happened: locks the messages, folds the news in the order given, and writes the messages,
 * the books and the jobs that follow. Jobs are news too, as long as they are still held: completing them and
 * their effect are one. Runs inside the caller's transaction; news about unknown messages is
 * ignored. Returns the attempts that may be submitted once that transaction is committed.
 */
export class AdvanceMessages {
  readonly #ports: { readonly clock: Clock; readonly queueWebhooks: QueueWebhooks };

  constructor(ports: { readonly clock: Clock; readonly queueWebhooks: QueueWebhooks }) {
    this.#ports = ports;
  }

  async execute(
    stores: Stores,
    news: readonly MessageEvent[],
    jobs: readonly LeasedJob<MessageWork>[] = [],
  ): Promise<readonly PendingSubmission[]> {
    const smsIds = [...news.map(({ smsId }) => smsId), ...jobs.map(({ work }) => work.smsId)];
    if (smsIds.length === 0) return [];
    const now = this.#ports.clock.now();
    // Messages before their jobs: whoever brings news locks in this order, so that nobody waits in a circle.
    const locked = await stores.messages.lock([...new Set(smsIds)]);
    const held = new Set<LeasedJob>(jobs.length === 0 ? [] : await stores.jobs.complete(jobs));
    const before = new Map(locked.map((message) => [message.smsId, message]));
    const after = new Map(before);
    const writes = new BatchWrites(now);
    const due = jobs.filter((job) => held.has(job)).map(newsOf);
    for (const { smsId, event } of [...news, ...due]) {
      const message = after.get(smsId);
      if (message === undefined) continue;
      const outcome = advance(message, event, now);
      after.set(smsId, outcome.message);
      for (const effect of outcome.effects) writes.add(outcome.message, effect);
    }
    await stores.messages.save(
      [...after.values()].filter((message) => before.get(message.smsId) !== message),
    );
    await writes.write(stores);
    await this.#ports.queueWebhooks.statusChanges(stores, writes.statusChanges);
    return writes.started.flatMap(({ smsId, attemptNumber }) => {
      const message = after.get(smsId);
      return message === undefined || message.isFinal ? [] : [{ message, attemptNumber }];
    });
  }
}

/** What the effects of a batch come to: at most one job per attempt, whatever was said about it on the way. */
class BatchWrites {
  readonly started: { readonly smsId: string; readonly attemptNumber: number }[] = [];
  readonly statusChanges: MessageStatusChange[] = [];
  readonly #now: number;
  readonly #entries: LedgerEntry[] = [];
  readonly #jobs = new Map<string, Job>();
  readonly #removedJobIds = new Set<string>();

  constructor(now: number) {
    this.#now = now;
  }

  add(message: Message, effect: ChainEffect): void {
    const { smsId } = message;
    switch (effect.kind) {
      case 'submit':
        this.started.push({ smsId, attemptNumber: effect.attemptNumber });
        return;
      case 'schedule-start':
        this.#schedule(startAttemptJob(smsId, effect.attemptNumber, this.#now));
        return;
      case 'schedule-deadline':
        this.#schedule(attemptDeadlineJob(smsId, effect.attemptNumber, effect.at));
        return;
      case 'unschedule':
        this.#unschedule(startAttemptJobId(smsId, effect.attemptNumber));
        this.#unschedule(attemptDeadlineJobId(smsId, effect.attemptNumber));
        return;
      case 'settle': {
        const occurrence = { projectId: message.projectId, reference: smsId, at: this.#now };
        this.#entries.push(
          settlementEntry(occurrence, message.cost, amountCaptured(message, effect.channel)),
        );
        return;
      }
      case 'status-changed':
        this.statusChanges.push({ message, change: effect });
        return;
      default:
        effect satisfies never;
    }
  }

  async write({ jobs, ledger }: Stores): Promise<void> {
    if (this.#removedJobIds.size > 0) await jobs.remove([...this.#removedJobIds]);
    if (this.#jobs.size > 0) await jobs.add([...this.#jobs.values()]);
    if (this.#entries.length > 0) await ledger.post(this.#entries);
  }

  #schedule(job: Job): void {
    this.#removedJobIds.delete(job.id);
    this.#jobs.set(job.id, job);
  }

  #unschedule(id: string): void {
    this.#jobs.delete(id);
    this.#removedJobIds.add(id);
  }
}

function newsOf({ work }: LeasedJob<MessageWork>): MessageEvent {
  switch (work.kind) {
    case 'start-attempt':
      return { smsId: work.smsId, event: { kind: 'start', attemptNumber: work.attemptNumber } };
    case 'attempt-deadline':
      return { smsId: work.smsId, event: { kind: 'deadline', attemptNumber: work.attemptNumber } };
    default:
      return work satisfies never;
  }
}

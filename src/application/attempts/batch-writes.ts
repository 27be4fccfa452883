import { type LedgerEntry, settlementEntry } from '../../domain/billing/ledger.ts';
import { amountCaptured } from '../../domain/billing/settlement.ts';
import type { AttemptRef } from '../../domain/chain/attempt-name.ts';
import type { ChainEffect } from '../../domain/chain/chain-outcome.ts';
import type { Job } from '../../domain/jobs/job.ts';
import type { Message } from '../../domain/messages/message.ts';
import {
  attemptDeadlineJob,
  attemptDeadlineJobId,
  startAttemptJob,
  startAttemptJobId,
} from '../jobs/attempt-jobs.ts';
import type { Stores } from '../ports/stores.ts';
import type { MessageStatusChange } from '../webhooks/enqueue-webhooks.ts';
import type { Postponed } from './admit-starts.ts';

/**
 * Sorts the effects of a batch by what handles them, and writes its jobs and ledger entries. Of several jobs with one id it keeps
 * the last.
 */
export class BatchWrites {
  readonly started: AttemptRef[] = [];
  readonly revoked: AttemptRef[] = [];
  readonly statusChanges: MessageStatusChange[] = [];
  readonly stopReasons = new Map<string, string>();
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
      case 'revoke':
        this.revoked.push({ smsId, attemptNumber: effect.attemptNumber });
        return;
      case 'schedule-start':
        this.#schedule(startAttemptJob(message, effect.attemptNumber, effect.at));
        return;
      case 'schedule-deadline':
        this.#schedule(attemptDeadlineJob(message, effect.attemptNumber, effect.at));
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
      case 'stop-campaign':
        if (message.campaignId !== null) this.stopReasons.set(message.campaignId, effect.reason);
        return;
      case 'status-changed':
        this.statusChanges.push({ message, change: effect });
        return;
      default:
        effect satisfies never;
    }
  }

  /** A job of the same id starts the attempt later. */
  postponeStart(message: Message, attemptNumber: number, { at, hasWaited }: Postponed): void {
    this.#schedule(startAttemptJob(message, attemptNumber, at, { hasWaited }));
  }

  /** Removes a job that the attempt needs no longer: it started before the job was due, or it does not start any more. */
  removeStart({ smsId }: Message, attemptNumber: number): void {
    this.#unschedule(startAttemptJobId(smsId, attemptNumber));
  }

  async writeJobs({ jobs }: Stores): Promise<void> {
    await Promise.all([
      this.#removedJobIds.size > 0 ? jobs.remove([...this.#removedJobIds]) : null,
      this.#jobs.size > 0 ? jobs.add([...this.#jobs.values()], this.#now) : null,
    ]);
  }

  async post({ ledger }: Stores): Promise<void> {
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

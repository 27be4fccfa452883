import type { Project } from '../../domain/access/project.ts';
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
import type { EnqueueWebhooks, MessageStatusChange } from '../webhooks/enqueue-webhooks.ts';
import type { SubmissionCapacity } from './submission-capacity.ts';

/** Something that happened to one message. */
export interface MessageEvent {
  readonly smsId: string;
  readonly event: ChainEvent;
}

/** An attempt that may be submitted once the transaction that started it is committed. */
export interface PendingSubmission {
  readonly message: Message;
  readonly project: Project;
  readonly attemptNumber: number;
}

interface AdvancePorts {
  readonly clock: Clock;
  readonly enqueueWebhooks: EnqueueWebhooks;
  readonly submissionCapacity: SubmissionCapacity;
}

/**
 * Tells fallback chains what happened: locks the messages, folds the events in the given order, and writes the messages,
 * the ledger entries and the jobs that follow. A job is an event too, as long as its lease is held: its completion and
 * its effect are one. An attempt whose provider is at its limit starts later. Runs inside the caller's transaction and
 * ignores events of unknown messages. Returns the attempts to submit after the commit.
 */
export class AdvanceMessages {
  readonly #ports: AdvancePorts;

  constructor(ports: AdvancePorts) {
    this.#ports = ports;
  }

  async execute(
    stores: Stores,
    events: readonly MessageEvent[],
    jobs: readonly LeasedJob<MessageWork>[] = [],
  ): Promise<readonly PendingSubmission[]> {
    const smsIds = [...events.map(({ smsId }) => smsId), ...jobs.map(({ work }) => work.smsId)];
    if (smsIds.length === 0) return [];
    const now = this.#ports.clock.now();
    // Messages before jobs: every caller locks in this order, so that no two wait for each other.
    const [locked, completed] = await Promise.all([
      stores.messages.lock([...new Set(smsIds)]),
      jobs.length === 0 ? [] : stores.jobs.complete(jobs),
    ]);
    const held = new Set<LeasedJob>(completed);
    const due = jobs.filter((job) => held.has(job)).map(eventOf);
    const before = new Map(locked.map((message) => [message.smsId, message]));
    const after = new Map(before);
    const projects = await projectsOfStarts(stores, due, before);
    const writes = new BatchWrites(now);
    for (const each of [...events, ...due]) {
      const message = after.get(each.smsId);
      if (message === undefined) continue;
      const retryAt = this.#retryAt(message, each.event, projects, now);
      if (retryAt !== null) {
        writes.postponeStart(message, each.event, retryAt);
        continue;
      }
      const outcome = advance(message, each.event, now);
      after.set(each.smsId, outcome.message);
      for (const effect of outcome.effects) writes.add(outcome.message, effect);
    }
    await Promise.all([
      stores.messages.save([...after.values()].filter((message) => before.get(message.smsId) !== message)),
      writes.write(stores),
    ]);
    await this.#ports.enqueueWebhooks.statusChanges(stores, writes.statusChanges);
    return writes.started.flatMap(({ smsId, attemptNumber }) => {
      const message = after.get(smsId);
      const project = projects.get(message?.projectId ?? '');
      if (message === undefined || message.isFinal || project === undefined) return [];
      return [{ message, project, attemptNumber }];
    });
  }

  /** When an attempt may start whose provider is at its limit; null for every other event. */
  #retryAt(
    message: Message,
    event: ChainEvent,
    projects: ReadonlyMap<string, Project>,
    now: number,
  ): number | null {
    const project = projects.get(message.projectId);
    const channel = message.channels[event.attemptNumber];
    if (event.kind !== 'start' || message.isFinal || project === undefined || channel === undefined) {
      return null;
    }
    return this.#ports.submissionCapacity.retryAt(channel, project.environment, now);
  }
}

/** The projects whose messages are about to start an attempt. */
async function projectsOfStarts(
  stores: Stores,
  events: readonly MessageEvent[],
  messages: ReadonlyMap<string, Message>,
): Promise<ReadonlyMap<string, Project>> {
  const ids = events.flatMap(({ smsId, event }) => {
    const message = event.kind === 'start' ? messages.get(smsId) : undefined;
    return message === undefined ? [] : [message.projectId];
  });
  const projects = ids.length === 0 ? [] : await stores.projects.byIds([...new Set(ids)]);
  return new Map(projects.map((project) => [project.id, project]));
}

/** What a batch has to write: of several jobs of one attempt the last. */
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
        this.#schedule(startAttemptJob(message, effect.attemptNumber, this.#now));
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
      case 'status-changed':
        this.statusChanges.push({ message, change: effect });
        return;
      default:
        effect satisfies never;
    }
  }

  /** The attempt is started by a job of the same id, later. */
  postponeStart(message: Message, { attemptNumber }: ChainEvent, at: number): void {
    this.#schedule(startAttemptJob(message, attemptNumber, at));
  }

  async write({ jobs, ledger }: Stores): Promise<void> {
    await Promise.all([
      this.#removedJobIds.size > 0 ? jobs.remove([...this.#removedJobIds]) : null,
      this.#jobs.size > 0 ? jobs.add([...this.#jobs.values()], this.#now) : null,
      this.#entries.length > 0 ? ledger.post(this.#entries) : null,
    ]);
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

function eventOf({ work }: LeasedJob<MessageWork>): MessageEvent {
  switch (work.kind) {
    case 'start-attempt':
      return { smsId: work.smsId, event: { kind: 'start', attemptNumber: work.attemptNumber } };
    case 'attempt-deadline':
      return { smsId: work.smsId, event: { kind: 'deadline', attemptNumber: work.attemptNumber } };
    default:
      return work satisfies never;
  }
}

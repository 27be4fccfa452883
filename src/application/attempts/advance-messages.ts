import type { Project } from '../../domain/access/project.ts';
import type { AttemptRef } from '../../domain/chain/attempt-name.ts';
import type { ChainEvent } from '../../domain/chain/chain-event.ts';
import { isGivenUp } from '../../domain/chain/chain-outcome.ts';
import { advance } from '../../domain/chain/fallback-chain.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';
import type { Message } from '../../domain/messages/message.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import type { AttemptWork } from '../jobs/attempt-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Stores } from '../ports/stores.ts';
import { RESTORED_REASON, type RestorePoint } from '../restores/restore-point.ts';
import type { EnqueueWebhooks } from '../webhooks/enqueue-webhooks.ts';
import type { AdmitStarts, AttemptStart, Postponed } from './admit-starts.ts';
import { BatchWrites } from './batch-writes.ts';
import { type MessageChange, recordCampaignProgress } from './record-campaign-progress.ts';
import type { WaitingStart } from './waiting-starts.ts';

/** Something that happened to one message. */
export interface MessageEvent {
  readonly smsId: string;
  readonly event: ChainEvent;
}

/** What messages are told in one unit of work. */
export interface MessageBatch {
  readonly events?: readonly MessageEvent[];
  /** Attempts that waited for their provider, which has capacity now. They are folded after the events. */
  readonly readyStarts?: readonly AttemptRef[];
  /** They are folded last. */
  readonly jobs?: readonly LeasedJob<AttemptWork>[];
  /** Whether attempts of the project start later, because a lock holds up its submit results. */
  readonly isLocked?: (projectId: string) => boolean;
}

/** An attempt that may be submitted once the transaction that started it is committed. */
export interface PendingSubmission {
  readonly message: Message;
  readonly project: Project;
  readonly attemptNumber: number;
  /** Whether it has waited for its provider for as long as it may. */
  readonly hasWaited: boolean;
}

/** An attempt that the chain gave up on, and what its provider may still deliver. */
export interface PendingRevocation {
  readonly channel: Channel;
  readonly providerMessageIds: readonly string[];
}

/** What may be done at the channel providers once the transaction is committed. */
export interface ProviderWork {
  readonly submissions: readonly PendingSubmission[];
  readonly revocations: readonly PendingRevocation[];
  /** Attempts that begin when their provider has capacity. */
  readonly waiting: readonly WaitingStart[];
}

interface AdvancePorts {
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'hex24'>;
  readonly enqueueWebhooks: EnqueueWebhooks;
  readonly admitStarts: AdmitStarts;
  readonly restorePoint: Pick<RestorePoint, 'covers'>;
}

export const NO_WORK: ProviderWork = { submissions: [], revocations: [], waiting: [] };

/**
 * Tells fallback chains what happened: locks the messages, folds the events in the given order, and writes the messages, the
 * ledger entries and the jobs that follow. A job whose lease is held is an event, too: it is completed in the same transaction.
 * Messages of a backup that was restored start no attempt: they are cancelled. An attempt that may not start now is postponed.
 * Runs inside the caller's transaction and ignores events of unknown messages. Returns what to submit, to revoke and to keep
 * waiting after the commit.
 */
export class AdvanceMessages {
  readonly #ports: AdvancePorts;

  constructor(ports: AdvancePorts) {
    this.#ports = ports;
  }

  async execute(
    stores: Stores,
    { events = [], readyStarts = [], jobs = [], isLocked = () => false }: MessageBatch,
  ): Promise<ProviderWork> {
    const smsIds = [...events, ...readyStarts, ...jobs.map(({ work }) => work)].map(({ smsId }) => smsId);
    if (smsIds.length === 0) return NO_WORK;
    const now = this.#ports.clock.now();
    // Messages before jobs: every caller locks in this order, so that no two wait for each other.
    const [locked, completed] = await Promise.all([
      stores.messages.lock([...new Set(smsIds)]),
      jobs.length === 0 ? [] : stores.jobs.complete(jobs),
    ]);
    const held = new Set<LeasedJob>(completed);
    const startId = jobs.length + readyStarts.length === 0 ? '' : this.#ports.ids.hex24(now);
    const before = new Map(locked.map((message) => [message.smsId, message]));
    const due = [
      ...readyStarts.map((attempt): DueMessageEvent => ({ ...startOf(attempt, startId), isReady: true })),
      ...jobs.filter((job) => held.has(job)).map((job) => eventOf(job, startId)),
    ].map((each) => this.#cancelledWhenRestored(each, before));
    const starts = startsAmong(due, before);
    const projects = await projectsOf(stores, starts);
    const postponed = await this.#ports.admitStarts.execute(stores, starts, { projects, isLocked, now });
    const { after, writes } = fold([...events, ...due], before, postponed, now);
    const changes = changesBetween(before, after);
    await Promise.all([
      stores.messages.save(changes.map((change) => change.after)),
      writes.writeJobs(stores),
    ]);
    await Promise.all([
      // After the statements whose results are awaited: from here to the commit, sends of the project wait for its account.
      writes.post(stores),
      // Behind the ledger: accounts are locked before campaigns.
      recordCampaignProgress(stores, { changes, stopReasons: writes.stopReasons, now }),
    ]);
    await this.#ports.enqueueWebhooks.statusChanges(stores, writes.statusChanges);
    const waited = new Set(due.filter(({ hasWaited }) => hasWaited).map(({ smsId }) => smsId));
    return {
      submissions: submissionsOf(writes.started, { messages: after, projects, waited }),
      revocations: revocationsOf(writes.revoked, after),
      waiting: [...postponed.values()].flatMap(({ waiting }) => waiting ?? []),
    };
  }

  #cancelledWhenRestored(each: DueMessageEvent, messages: ReadonlyMap<string, Message>): DueMessageEvent {
    const { smsId, event } = each;
    const message = messages.get(smsId);
    if (event.kind !== 'start' || message === undefined || !this.#ports.restorePoint.covers(message))
      return each;
    return {
      ...each,
      event: { kind: 'cancel', attemptNumber: event.attemptNumber, reason: RESTORED_REASON },
    };
  }
}

/** A message event that is due. */
interface DueMessageEvent extends MessageEvent {
  /** The attempt waited for its provider, which has capacity before the job of the attempt is due. */
  readonly isReady?: boolean;
  /** As that of `AttemptStart`. */
  readonly hasWaited?: boolean;
}

/**
 * The messages after the events, which are folded in their order, and what has to be written. A start that may not be now is
 * postponed.
 */
function fold(
  events: readonly DueMessageEvent[],
  before: ReadonlyMap<string, Message>,
  postponed: ReadonlyMap<string, Postponed>,
  now: number,
): { readonly after: ReadonlyMap<string, Message>; readonly writes: BatchWrites } {
  const after = new Map(before);
  const writes = new BatchWrites(now);
  for (const { smsId, event, isReady } of events) {
    const message = after.get(smsId);
    if (message === undefined) continue;
    const later = event.kind === 'start' && !message.isFinal ? postponed.get(smsId) : undefined;
    if (later !== undefined) {
      writes.postponeStart(message, event.attemptNumber, later);
      continue;
    }
    const outcome = advance(message, event, now);
    after.set(smsId, outcome.message);
    if (isReady) writes.removeStart(message, event.attemptNumber);
    for (const effect of outcome.effects) writes.add(outcome.message, effect);
  }
  return { after, writes };
}

function submissionsOf(
  started: readonly AttemptRef[],
  {
    messages,
    projects,
    waited,
  }: {
    readonly messages: ReadonlyMap<string, Message>;
    readonly projects: ReadonlyMap<string, Project>;
    readonly waited: ReadonlySet<string>;
  },
): readonly PendingSubmission[] {
  return started.flatMap(({ smsId, attemptNumber }) => {
    const message = messages.get(smsId);
    const project = projects.get(message?.projectId ?? '');
    if (message === undefined || message.isFinal || project === undefined) return [];
    return [{ message, project, attemptNumber, hasWaited: waited.has(smsId) }];
  });
}

/** An attempt is not revoked when a later event of the batch reports it as delivered after all. */
function revocationsOf(
  revoked: readonly AttemptRef[],
  messages: ReadonlyMap<string, Message>,
): readonly PendingRevocation[] {
  return revoked.flatMap(({ smsId, attemptNumber }) => {
    const message = messages.get(smsId);
    const attempt = message?.attempts[attemptNumber];
    if (message === undefined || attempt === undefined || !isGivenUp(message, attemptNumber)) return [];
    const { channel, providerMessageIds } = attempt;
    return [{ channel, providerMessageIds }];
  });
}

function changesBetween(
  before: ReadonlyMap<string, Message>,
  after: ReadonlyMap<string, Message>,
): readonly MessageChange[] {
  return [...after.values()].flatMap((message): readonly MessageChange[] => {
    const earlier = before.get(message.smsId);
    return earlier === undefined || earlier === message ? [] : [{ before: earlier, after: message }];
  });
}

function startsAmong(
  events: readonly DueMessageEvent[],
  messages: ReadonlyMap<string, Message>,
): readonly AttemptStart[] {
  return events.flatMap(({ smsId, event, isReady = false, hasWaited = false }) => {
    const message = event.kind === 'start' ? messages.get(smsId) : undefined;
    if (message === undefined || message.isFinal) return [];
    return [{ message, attemptNumber: event.attemptNumber, isReady, hasWaited }];
  });
}

async function projectsOf(
  stores: Stores,
  starts: readonly AttemptStart[],
): Promise<ReadonlyMap<string, Project>> {
  if (starts.length === 0) return new Map();
  const ids = new Set(starts.map(({ message }) => message.projectId));
  const projects = await stores.projects.byIds([...ids]);
  return new Map(projects.map((project) => [project.id, project]));
}

function eventOf({ work }: LeasedJob<AttemptWork>, startId: string): DueMessageEvent {
  switch (work.kind) {
    case 'start-attempt':
      return work.hasWaited ? { ...startOf(work, startId), hasWaited: true } : startOf(work, startId);
    case 'attempt-deadline':
      return { smsId: work.smsId, event: { kind: 'deadline', attemptNumber: work.attemptNumber } };
    default:
      return work satisfies never;
  }
}

function startOf({ smsId, attemptNumber }: AttemptRef, startId: string): MessageEvent {
  return { smsId, event: { kind: 'start', attemptNumber, startId } };
}

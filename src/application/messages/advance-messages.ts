import type { Environment, Project } from '../../domain/access/project.ts';
import { messagePriority } from '../../domain/jobs/job-priority.ts';
import type { AttemptRef } from '../../domain/messages/attempt-name.ts';
import type { ChainEvent } from '../../domain/messages/chain-event.ts';
import { isGivenUp } from '../../domain/messages/chain-outcome.ts';
import { advance } from '../../domain/messages/fallback-chain.ts';
import type { Message } from '../../domain/messages/message.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import type { CampaignLimits, StartingMessage } from '../campaigns/campaign-limits.ts';
import { type MessageChange, recordProgress } from '../campaigns/record-progress.ts';
import type { MessageWork } from '../jobs/attempt-jobs.ts';
import type { LeasedJob } from '../jobs/job.ts';
import type { ChannelProviders } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Stores } from '../ports/stores.ts';
import { RESTORED_REASON, type RestorePoint } from '../restores/restore-point.ts';
import type { EnqueueWebhooks } from '../webhooks/enqueue-webhooks.ts';
import { BatchWrites } from './batch-writes.ts';
import { CAPACITY_RETRY_MS, type SubmissionCapacity } from './submission-capacity.ts';

/** Something that happened to one message. */
export interface MessageEvent {
  readonly smsId: string;
  readonly event: ChainEvent;
}

/** What messages are told in one unit of work. */
export interface MessageBatch {
  readonly events?: readonly MessageEvent[];
  /** Behind the events. */
  readonly jobs?: readonly LeasedJob<MessageWork>[];
  /** Whether attempts of the project start later, because a lock holds up its submit results. */
  readonly isLocked?: (projectId: string) => boolean;
}

/** An attempt that may be submitted once the transaction that started it is committed. */
export interface PendingSubmission {
  readonly message: Message;
  readonly project: Project;
  readonly attemptNumber: number;
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
}

interface AdvancePorts {
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'hex24'>;
  readonly enqueueWebhooks: EnqueueWebhooks;
  readonly channelProviders: Pick<ChannelProviders, 'route'>;
  readonly submissionCapacity: SubmissionCapacity;
  readonly campaignLimits: CampaignLimits;
  readonly restorePoint: Pick<RestorePoint, 'covers'>;
}

export const NO_WORK: ProviderWork = { submissions: [], revocations: [] };

/**
 * Tells fallback chains what happened: locks the messages, folds the events in the given order, and writes the messages,
 * the ledger entries and the jobs that follow. A job is an event too, as long as its lease is held: its completion and
 * its effect are one. Messages of a backup that was restored start no attempt: they are withdrawn. An attempt whose provider
 * is at its limit starts later, and so does one of a project that is held up. Runs inside the caller's transaction and ignores
 * events of unknown messages. Returns what to submit and to revoke after the commit.
 */
export class AdvanceMessages {
  readonly #ports: AdvancePorts;

  constructor(ports: AdvancePorts) {
    this.#ports = ports;
  }

  async execute(
    stores: Stores,
    { events = [], jobs = [], isLocked = () => false }: MessageBatch,
  ): Promise<ProviderWork> {
    const smsIds = [...events.map(({ smsId }) => smsId), ...jobs.map(({ work }) => work.smsId)];
    if (smsIds.length === 0) return NO_WORK;
    const now = this.#ports.clock.now();
    // Messages before jobs: every caller locks in this order, so that no two wait for each other.
    const [locked, completed] = await Promise.all([
      stores.messages.lock([...new Set(smsIds)]),
      jobs.length === 0 ? [] : stores.jobs.complete(jobs),
    ]);
    const held = new Set<LeasedJob>(completed);
    const startId = jobs.length === 0 ? '' : this.#ports.ids.hex24(now);
    const before = new Map(locked.map((message) => [message.smsId, message]));
    const due = jobs
      .filter((job) => held.has(job))
      .map((job) => eventOf(job, startId))
      .map((each) => this.#withdrawnWhenRestored(each, before));
    const projects = await projectsOfStarts(stores, due, before);
    const starts = startsAmong(due, before);
    const retryAts = await this.#admit(stores, starts, { projects, isLocked, now });
    const { after, writes } = fold([...events, ...due], before, retryAts, now);
    const changes = changesBetween(before, after);
    await Promise.all([
      stores.messages.save(changes.map((change) => change.after)),
      writes.writeJobs(stores),
    ]);
    await Promise.all([
      // Behind all that waits for a result: sends of the project wait for its account from here to the commit.
      writes.post(stores),
      // Behind the ledger: accounts are locked before campaigns.
      recordProgress(stores, { changes, stopReasons: writes.stopReasons, now }),
    ]);
    await this.#ports.enqueueWebhooks.statusChanges(stores, writes.statusChanges);
    return {
      submissions: submissionsOf(writes.started, after, projects),
      revocations: revocationsOf(writes.revoked, after),
    };
  }

  #withdrawnWhenRestored(each: MessageEvent, messages: ReadonlyMap<string, Message>): MessageEvent {
    const { smsId, event } = each;
    const message = messages.get(smsId);
    if (event.kind !== 'start' || message === undefined || !this.#ports.restorePoint.covers(message))
      return each;
    return {
      smsId,
      event: { kind: 'withdraw', attemptNumber: event.attemptNumber, reason: RESTORED_REASON },
    };
  }

  /**
   * Admits the attempts that may start now. Resolves with when the others start, by message: those of an isolated project, of a
   * provider at its limit, and of campaigns that have to wait. What waits for another reason neither counts for a campaign's rate
   * nor opens a conversation.
   */
  async #admit(
    stores: Stores,
    starts: readonly AttemptStart[],
    { projects, isLocked, now }: StartSurroundings,
  ): Promise<ReadonlyMap<string, number>> {
    const { campaignLimits } = this.#ports;
    const retryAts = new Map<string, number>();
    const ready: StartingMessage[] = [];
    for (const { message, attemptNumber } of starts) {
      const project = projects.get(message.projectId);
      const channel = message.channels[attemptNumber];
      const retryAt = isLocked(message.projectId)
        ? now + CAPACITY_RETRY_MS
        : project === undefined || channel === undefined
          ? null
          : this.#capacityRetryAt(channel, project.environment, message, now);
      if (retryAt !== null) retryAts.set(message.smsId, retryAt);
      else if (message.attempts.length === 0 && project !== undefined) ready.push({ message, project });
    }
    for (const [smsId, at] of await campaignLimits.admit(stores, ready, now)) retryAts.set(smsId, at);
    return retryAts;
  }

  /** By the first provider of the route: a later one only gets what that one did not take. */
  #capacityRetryAt(channel: Channel, environment: Environment, message: Message, now: number): number | null {
    const { submissionCapacity, channelProviders } = this.#ports;
    const [first] = channelProviders.route(channel, environment, message.phoneNumber);
    if (first === undefined) return null;
    const backlog = { priority: messagePriority(message), projectId: message.projectId };
    return submissionCapacity.retryAt({ channel, environment, provider: first.name }, backlog, now);
  }
}

/** An attempt that is about to start. */
interface AttemptStart {
  readonly message: Message;
  readonly attemptNumber: number;
}

/** What else decides when attempts start. */
interface StartSurroundings {
  readonly projects: ReadonlyMap<string, Project>;
  readonly isLocked: (projectId: string) => boolean;
  readonly now: number;
}

/**
 * The messages after the events, in their order, and what has to be written of them. Starts that may not be now are postponed.
 */
function fold(
  events: readonly MessageEvent[],
  before: ReadonlyMap<string, Message>,
  retryAts: ReadonlyMap<string, number>,
  now: number,
): { readonly after: ReadonlyMap<string, Message>; readonly writes: BatchWrites } {
  const after = new Map(before);
  const writes = new BatchWrites(now);
  for (const { smsId, event } of events) {
    const message = after.get(smsId);
    if (message === undefined) continue;
    const retryAt = event.kind === 'start' && !message.isFinal ? retryAts.get(smsId) : undefined;
    if (retryAt !== undefined) {
      writes.postponeStart(message, event.attemptNumber, retryAt);
      continue;
    }
    const outcome = advance(message, event, now);
    after.set(smsId, outcome.message);
    for (const effect of outcome.effects) writes.add(outcome.message, effect);
  }
  return { after, writes };
}

function submissionsOf(
  started: readonly AttemptRef[],
  messages: ReadonlyMap<string, Message>,
  projects: ReadonlyMap<string, Project>,
): readonly PendingSubmission[] {
  return started.flatMap(({ smsId, attemptNumber }) => {
    const message = messages.get(smsId);
    const project = projects.get(message?.projectId ?? '');
    if (message === undefined || message.isFinal || project === undefined) return [];
    return [{ message, project, attemptNumber }];
  });
}

/** What a later event of the batch reported as delivered after all is not revoked. */
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
  events: readonly MessageEvent[],
  messages: ReadonlyMap<string, Message>,
): readonly AttemptStart[] {
  return events.flatMap(({ smsId, event }) => {
    const message = event.kind === 'start' ? messages.get(smsId) : undefined;
    return message === undefined || message.isFinal ? [] : [{ message, attemptNumber: event.attemptNumber }];
  });
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

function eventOf({ work }: LeasedJob<MessageWork>, startId: string): MessageEvent {
  switch (work.kind) {
    case 'start-attempt':
      return { smsId: work.smsId, event: { kind: 'start', attemptNumber: work.attemptNumber, startId } };
    case 'attempt-deadline':
      return { smsId: work.smsId, event: { kind: 'deadline', attemptNumber: work.attemptNumber } };
    default:
      return work satisfies never;
  }
}

import type { AuditAction, AuditRecord } from '../../domain/audit/audit-record.ts';
import { failedAtStart, waitsForStartOf } from '../../domain/campaigns/campaign.ts';
import type { AttemptRef } from '../../domain/chain/attempt-name.ts';
import { INSTALLATION } from '../../domain/jobs/job.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import type { AdvanceMessages } from '../attempts/advance-messages.ts';
import { Rejected } from '../errors/rejected.ts';
import { groupBy } from '../group-by.ts';
import { droppedWith } from '../jobs/job-kinds.ts';
import type { SurveyWork, WorkSurvey } from '../jobs/survey-work.ts';
import { WORKER_SEEN_MS } from '../jobs/worker-heartbeat.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type {
  DeadLetter,
  DeadLetterFilter,
  DeadLetterPlace,
  DeadLetterStore,
} from '../ports/stores/dead-letter-store.ts';
import type { JobDepth } from '../ports/stores/job-survey-store.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { deleteReports } from '../reports/remove-reports.ts';
import { cutPage, type ListPage } from './walk-page.ts';

/** The most dead-letter jobs that one request changes. */
export const DEAD_LETTER_SLICE_MAX = 200;

/** The most available jobs of one priority that are counted by kind, and the most of its other jobs. */
export const DEPTH_COUNTED_MAX = 2_000;

const DROPPED_REASON = 'An operator dropped the job of this message';
const DROPPED_START_REASON = 'An operator dropped the start of this campaign';

/** A process that runs jobs, or did in the last day. */
export interface WorkerOverview {
  readonly id: string;
  /** Its last heartbeat, in milliseconds since 1970. */
  readonly seenAt: number;
  /** Whether that was in the last `WORKER_SEEN_MS`. */
  readonly isSeen: boolean;
}

/** How the work of the installation stands, with its kinds and workers. */
export interface JobOverview {
  readonly survey: WorkSurvey;
  readonly depth: readonly JobDepth[];
  /** The latest seen first. */
  readonly workers: readonly WorkerOverview[];
}

/** What became of a slice of dead-letter jobs. */
export interface SliceResult {
  readonly jobs: number;
  /** Whether more are there that the filter lets through. */
  readonly hasMore: boolean;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly surveyWork: SurveyWork;
  readonly advanceMessages: AdvanceMessages;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
}

/**
 * Jobs, for operators. A change takes a slice of dead-letter jobs, the oldest first, in one transaction with its audit records.
 * Repeated, it finds nothing more to do: no job is redriven or dropped twice.
 */
export class ManageJobs {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Counts stop as `SurveyWork` says, those by kind at `DEPTH_COUNTED_MAX`. */
  async overview(): Promise<JobOverview> {
    const { unitOfWork, surveyWork, clock } = this.#ports;
    const survey = await surveyWork.execute();
    const now = clock.now();
    return unitOfWork.read(async ({ jobSurvey, workers }) => ({
      survey,
      depth: await jobSurvey.depth(now, DEPTH_COUNTED_MAX),
      workers: [...(await workers.all())]
        .map(([id, seenAt]) => ({ id, seenAt, isSeen: seenAt >= now - WORKER_SEEN_MS }))
        .sort((a, b) => b.seenAt - a.seenAt),
    }));
  }

  /** The newest first. */
  async deadLetters(
    query: Parameters<DeadLetterStore['list']>[0],
  ): Promise<ListPage<DeadLetter, DeadLetterPlace>> {
    const { limit } = query;
    const found = await this.#ports.unitOfWork.read(({ deadLetters }) =>
      deadLetters.list({ ...query, limit: limit + 1 }),
    );
    return cutPage(found, limit, ({ deadLetteredAt, id }) => ({ deadLetteredAt, id }));
  }

  /** Makes up to `DEAD_LETTER_SLICE_MAX` dead-letter jobs due now. */
  async redrive(actor: Actor, filter: DeadLetterFilter): Promise<SliceResult> {
    const { unitOfWork, clock, wakeSignal } = this.#ports;
    const at = clock.now();
    const result = await unitOfWork.run(async ({ deadLetters, auditLog }) => {
      const found = await deadLetters.lock(filter, DEAD_LETTER_SLICE_MAX + 1);
      const slice = found.slice(0, DEAD_LETTER_SLICE_MAX);
      await deadLetters.redrive(slice, at);
      await auditLog.insert(this.#records(actor, at, 'jobs-redriven', slice));
      return { jobs: slice.length, hasMore: found.length > slice.length };
    });
    wakeSignal.wake();
    return result;
  }

  /**
   * Drops up to `DEAD_LETTER_SLICE_MAX` dead-letter jobs. A message whose attempt would have started fails, and what was held
   * for it is released; a campaign that waits for its start fails, and a report that is not made is deleted. Rejects as
   * `job-not-droppable`, and drops nothing, when a job of the slice ends something that would stay open for ever.
   */
  async drop(actor: Actor, filter: DeadLetterFilter): Promise<SliceResult> {
    const { unitOfWork, clock, wakeSignal } = this.#ports;
    const at = clock.now();
    const result = await unitOfWork.run(async (stores) => {
      const found = await stores.deadLetters.lock(filter, DEAD_LETTER_SLICE_MAX + 1);
      const slice = found.slice(0, DEAD_LETTER_SLICE_MAX);
      const { attempts, campaignStarts, reportIds } = endedBy(slice);
      // Messages before campaigns: every caller locks in this order.
      await this.#failMessages(stores, attempts);
      await failCampaigns(stores, campaignStarts, at);
      await deleteUnmadeReports(stores, reportIds, at);
      await stores.deadLetters.remove(slice);
      await stores.auditLog.insert(this.#records(actor, at, 'jobs-dropped', slice));
      return { jobs: slice.length, hasMore: found.length > slice.length };
    });
    wakeSignal.wake();
    return result;
  }

  async #failMessages(stores: Stores, attempts: readonly AttemptRef[]): Promise<void> {
    const events = attempts.map(({ smsId, attemptNumber }) => ({
      smsId,
      event: { kind: 'cancel', attemptNumber, reason: DROPPED_REASON } as const,
    }));
    await this.#ports.advanceMessages.execute(stores, { events });
  }

  /** One for each project and kind. Ids are left out: that of a webhook job has the address of a customer's server. */
  #records(
    actor: Actor,
    at: number,
    action: Extract<AuditAction, 'jobs-redriven' | 'jobs-dropped'>,
    slice: readonly DeadLetter[],
  ): readonly AuditRecord[] {
    const groups = groupBy(slice, ({ projectId, work }) => `${projectId} ${work.kind}`);
    return [...groups.values()].flatMap((group): readonly AuditRecord[] => {
      const [first] = group;
      if (first === undefined) return [];
      const { projectId, work } = first;
      return [
        {
          id: this.#ports.ids.hex24(at),
          actor,
          at,
          action,
          projectId: projectId === INSTALLATION ? null : projectId,
          before: null,
          after: { kind: work.kind, jobs: group.length },
        },
      ];
    });
  }
}

/** What ends with dropped jobs. */
interface Ended {
  readonly attempts: AttemptRef[];
  /** When the job of each campaign was dead-lettered, by the id of the campaign. */
  readonly campaignStarts: Map<string, number>;
  readonly reportIds: Set<string>;
}

function endedBy(slice: readonly DeadLetter[]): Ended {
  const ended: Ended = { attempts: [], campaignStarts: new Map(), reportIds: new Set() };
  for (const { work, deadLetteredAt } of slice) {
    const dropped = droppedWith(work);
    if (dropped === null) throw new Rejected({ kind: 'job-not-droppable', jobKind: work.kind });
    switch (dropped.kind) {
      case 'attempt':
        ended.attempts.push(dropped);
        break;
      case 'campaign-start':
        ended.campaignStarts.set(dropped.campaignId, deadLetteredAt);
        break;
      case 'report':
        ended.reportIds.add(dropped.reportId);
        break;
      case 'nothing':
        break;
      default:
        dropped satisfies never;
    }
  }
  return ended;
}

/** A campaign that was planned anew has another job for its start, and goes on. */
async function failCampaigns(
  { campaigns }: Pick<Stores, 'campaigns'>,
  starts: ReadonlyMap<string, number>,
  now: number,
): Promise<void> {
  const locked = await campaigns.lock([...starts.keys()]);
  const waiting = locked.filter((each) => waitsForStartOf(each, starts.get(each.id) ?? 0));
  await campaigns.save(waiting.map((each) => failedAtStart(each, DROPPED_START_REASON, now)));
}

async function deleteUnmadeReports(
  stores: Pick<Stores, 'reports' | 'jobs'>,
  ids: ReadonlySet<string>,
  now: number,
): Promise<void> {
  const locked = await stores.reports.lock([...ids]);
  const unmade = locked.filter(({ recordCount }) => recordCount === null);
  await deleteReports(stores, unmade, now);
}

import type { LeasedJob } from '../../domain/jobs/job.ts';
import {
  beginsToFail,
  type CircuitBreaker,
  CLOSED_CIRCUIT,
  openedUntil,
  recordAttempt,
} from '../../domain/shared/circuit-breaker.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import {
  concernsReceiver,
  countsForCircuit,
  errorOf,
  isSuccess,
} from '../../domain/webhooks/delivery-result.ts';
import { DESTINATION_OPEN_WINDOWS_MS, destinationKey } from '../../domain/webhooks/destination.ts';
import { hostOf } from '../../domain/webhooks/endpoint.ts';
import { webhookAttempt } from '../../domain/webhooks/webhook-attempt.ts';
import {
  afterAttempt,
  type FinishedAttempt,
  promoteNext,
  type WebhookEvent,
} from '../../domain/webhooks/webhook-event.ts';
import { Batcher } from '../batching/batcher.ts';
import { groupBy } from '../group-by.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import { MinuteLog } from '../minute-log.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { Stores } from '../ports/stores.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { LockWait, UnitOfWork } from '../ports/unit-of-work.ts';

/** How long results of attempts wait under load, so that more are recorded together, in milliseconds. */
export const RECORD_BATCH_WINDOW_MS = 20;

interface RecordPorts {
  readonly unitOfWork: UnitOfWork;
  /** Attempts that end during it are recorded together: a transaction for each would cost more than the attempts. */
  readonly recordBatchWindow: Timeout;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** An attempt that ended, begun under a job. Instants are milliseconds since 1970. */
export interface FinishedDelivery extends Omit<FinishedAttempt, 'jitter'> {
  readonly job: LeasedJob<WebhookWork>;
  readonly event: WebhookEvent;
}

/** What the operator is told once it is committed. */
interface Notice {
  readonly event: 'webhook_attempt_failed' | 'webhook_discarded' | 'webhook_circuit_opened';
  readonly fields: LogFields;
}

/**
 * Stores attempts and their results in batches. After a crash before that, the event is attempted again. A result changes nothing
 * when its lease is not the newest, or when its event has changed meanwhile.
 */
export class RecordDeliveries {
  readonly #ports: RecordPorts;
  readonly #log: MinuteLog;
  readonly #batcher: Batcher<FinishedDelivery, boolean>;

  constructor(ports: RecordPorts) {
    this.#ports = ports;
    this.#log = new MinuteLog(ports);
    this.#batcher = new Batcher((finished, { lockWait }) => this.#recordAll(finished, lockWait), {
      clock: ports.clock,
      batchWindow: ports.recordBatchWindow,
      projectsOf: async (finished) => finished.map(({ job }) => job.work.projectId),
    });
  }

  /** Resolves once the result is committed, with whether its batch opened the circuit of the destination. */
  execute(finished: FinishedDelivery): Promise<boolean> {
    return this.#batcher.submit(finished);
  }

  async #recordAll(finished: readonly FinishedDelivery[], lockWait: LockWait): Promise<readonly boolean[]> {
    // When a dying machine loses the commit, the event is attempted again, as specification 6.1 allows.
    const { notices, opened } = await this.#ports.unitOfWork.run(
      (stores) => this.#record(stores, finished),
      'eventual',
      lockWait,
    );
    // Each message may have a path of its own: without `MinuteLog` each could have a line of its own.
    for (const { event, fields } of notices) this.#log.warn(event, fields);
    return finished.map(({ job }) => opened.has(job));
  }

  async #record(stores: Stores, finished: readonly FinishedDelivery[]) {
    const jobs = [...new Set(finished.map(({ job }) => job))];
    const now = this.#ports.clock.now();
    const leased = new Set(await stores.jobs.stillLeased(jobs));
    const valid = finished.filter(({ job }) => leased.has(job));
    const concerning = valid.filter(({ result }) => concernsReceiver(result));
    // Saving locks the events: events that others add behind them are there from here on, or find them changed.
    const [saved, open, breakers] = await Promise.all([
      stores.webhookEvents.save(
        valid.map(({ event, result, startedAt, endedAt }) =>
          afterAttempt(event, { result, startedAt, endedAt, jitter: this.#ports.ids.fraction() }),
        ),
      ),
      stores.webhookEvents.lockOpen(valid.map(({ event }) => event.orderingKey)),
      stores.circuitBreakers.lock([...new Set(concerning.map(({ job }) => destinationKey(job.work)))], now),
    ]);
    const savedIds = new Set(saved.map(({ id }) => id));
    const counted = concerning.filter(({ event }) => savedIds.has(event.id));
    const { firstFailures, openings, after } = recordForCircuits(breakers, counted);
    const results = new Map(valid.map((attempt) => [attempt.event.id, attempt]));
    await Promise.all([
      stores.webhookAttempts.insert(
        saved.map((event) => webhookAttempt(event, results.get(event.id) as FinishedDelivery)),
      ),
      stores.webhookEvents.save(promoted(saved, open, now)),
      stores.circuitBreakers.save(after, now),
    ]);
    const discarded = saved.filter(({ state }) => state === 'discarded');
    return {
      notices: [
        ...firstFailures.map(noticeOfFailure),
        ...discarded.map(noticeOfDiscard),
        ...openings.map(noticeOfOpening),
      ],
      opened: new Set(openings.map(({ attempt }) => attempt.job)),
    };
  }
}

/** The events that wait behind the attempted ones under their ordering keys, scheduled. */
function promoted(
  attempted: readonly WebhookEvent[],
  open: readonly WebhookEvent[],
  now: number,
): readonly WebhookEvent[] {
  const byKey = groupBy(open, ({ orderingKey }) => orderingKey);
  return attempted.flatMap((event) => promoteNext(event, byKey.get(event.orderingKey) ?? [], now));
}

/**
 * The breakers that the attempts changed, the failures with which a destination begins to fail, and those that opened a breaker.
 */
function recordForCircuits(
  breakers: ReadonlyMap<string, CircuitBreaker>,
  attempts: readonly FinishedDelivery[],
): {
  readonly after: ReadonlyMap<string, CircuitBreaker>;
  readonly firstFailures: readonly FinishedDelivery[];
  readonly openings: readonly Opening[];
} {
  const keys = new Map(
    [...new Set(attempts.map(({ job }) => job))].map((job) => [job, destinationKey(job.work)]),
  );
  const after = new Map<string, CircuitBreaker>();
  const firstFailures: FinishedDelivery[] = [];
  const openings: Opening[] = [];
  for (const attempt of attempts) {
    const key = keys.get(attempt.job) as string;
    const before = after.get(key) ?? breakers.get(key) ?? CLOSED_CIRCUIT;
    if (!countsForCircuit(before, attempt.event.kind)) continue;
    const recorded = recordAttempt(
      before,
      isSuccess(attempt.result),
      attempt.endedAt,
      DESTINATION_OPEN_WINDOWS_MS,
    );
    const until = openedUntil(before, recorded);
    after.set(key, until === null ? recorded : { ...recorded, lastError: errorOf(attempt.result) });
    if (!isSuccess(attempt.result) && beginsToFail(recorded)) firstFailures.push(attempt);
    if (until !== null) openings.push({ attempt, until });
  }
  return { after, firstFailures, openings };
}

/** A failed attempt, and the instant until which it opened a circuit. */
interface Opening {
  readonly attempt: FinishedDelivery;
  readonly until: number;
}

function noticeOfFailure({ event: { projectId, endpoint }, result }: FinishedDelivery): Notice {
  const fields = { projectId, host: hostOf(endpoint), lastError: errorOf(result) };
  return { event: 'webhook_attempt_failed', fields };
}

function noticeOfDiscard({ id, projectId, endpoint, attempts, lastError }: WebhookEvent): Notice {
  const fields = { eventId: id, projectId, host: hostOf(endpoint), attempts, lastError };
  return { event: 'webhook_discarded', fields };
}

function noticeOfOpening({ attempt: { event, result }, until }: Opening): Notice {
  const fields = {
    projectId: event.projectId,
    host: hostOf(event.endpoint),
    lastError: errorOf(result),
    until: isoOf(until),
  };
  return { event: 'webhook_circuit_opened', fields };
}

import { expect, it } from 'vitest';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import type { WebhookWork } from '../../src/application/jobs/webhook-jobs.ts';
import type { Stores } from '../../src/application/ports/stores.ts';
import { EnqueueWebhooks } from '../../src/application/webhooks/enqueue-webhooks.ts';
import { RecordDeliveries } from '../../src/application/webhooks/record-deliveries.ts';
import { ReleaseJobs } from '../../src/application/webhooks/release-jobs.ts';
import { LEASE_MS, type LeasedJob } from '../../src/domain/jobs/job.ts';
import { CLOSED_CIRCUIT } from '../../src/domain/shared/circuit-breaker.ts';
import { destinationKey } from '../../src/domain/webhooks/destination.ts';
import { aDeliveryReport, aMessage, NOW } from '../support/builders.ts';
import { Gate } from '../support/job-collector.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { uncancelled } from '../support/uncancelled.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const clock = { now: () => NOW };
const ids = new RandomIdSource();
const message = aMessage({ deliveryReport: aDeliveryReport({ deliveryReportType: 'all' }) });
const sent = {
  kind: 'status-changed',
  status: 'sent',
  channel: 'sms',
  isFinal: false,
  reason: null,
} as const;
const delivered = { ...sent, status: 'delivered', isFinal: true } as const;

/** What recording results and releasing jobs promise beside other processes that have the same events. */
export function recordDeliveriesContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);

  const enqueueWebhooks = new EnqueueWebhooks({ clock, ids });
  const eventsOf = (stores: Stores) => stores.webhookEvents.lockOpen([message.smsId]);
  const statusChange = (stores: Stores, change: typeof sent | typeof delivered) =>
    enqueueWebhooks.statusChanges(stores, [{ message, change }]);

  async function attemptedEvent() {
    await storage.unitOfWork.run((stores) => statusChange(stores, sent));
    const [job] = await storage.unitOfWork.run((stores) =>
      stores.jobs.lease({ workerId: 'worker', now: NOW, until: NOW + LEASE_MS, limit: 10 }),
    );
    const [event] = await storage.unitOfWork.run(eventsOf);
    if (job === undefined || event === undefined) throw new Error('The event is due at once');
    return { job: job as LeasedJob<WebhookWork>, event, startedAt: NOW, endedAt: NOW };
  }

  /** Records through stores that say when the result is sent to the database. */
  function recorder(onSave: () => void = () => {}): RecordDeliveries {
    return new RecordDeliveries({
      clock,
      ids,
      logger: new RecordingLogger(),
      recordBatchWindow: uncancelled(setImmediate),
      unitOfWork: {
        ...storage.unitOfWork,
        run: (work, durability) =>
          storage.unitOfWork.run((stores) => {
            const { webhookEvents } = stores;
            const save: typeof webhookEvents.save = (events) => {
              const saving = webhookEvents.save(events);
              onSave();
              return saving;
            };
            const lockOpen: typeof webhookEvents.lockOpen = (orderingKeys) => {
              const locking = webhookEvents.lockOpen(orderingKeys);
              onSave();
              return locking;
            };
            const told = new Proxy(webhookEvents, {
              get: (target, name) => {
                if (name === 'save') return save;
                if (name === 'lockOpen') return lockOpen;
                return Reflect.get(target, name).bind(target);
              },
            });
            return work({ ...stores, webhookEvents: told });
          }, durability),
      },
    });
  }

  const releaseJobs = () =>
    new ReleaseJobs({ unitOfWork: storage.unitOfWork, clock, wakeSignal: { wake: () => {} } });

  it('RecordDeliveries schedules an event that was added behind an attempted one while its result is recorded', async () => {
    const attempted = await attemptedEvent();
    const [hasLocked, isRecording] = [new Gate(), new Gate()];
    const adding = storage.unitOfWork.run(async (stores) => {
      await eventsOf(stores);
      hasLocked.open();
      if (storage.concurrency > 1) await isRecording.opened;
      await statusChange(stores, delivered);
    });
    await hasLocked.opened;
    const recording = recorder(() => isRecording.open()).execute({
      ...attempted,
      result: { kind: 'responded', status: 200, retryAfterMs: null },
    });
    await Promise.all([adding, recording]);

    const open = await storage.unitOfWork.run(eventsOf);
    expect(open.map(({ body, nextAttemptAt }) => [JSON.parse(body).status, nextAttemptAt])).toEqual([
      ['delivered', NOW],
    ]);
    // The process that has the job of the destination fetches it.
    const { projectId, endpoint } = attempted.event;
    expect(
      await storage.unitOfWork.read((stores) => stores.webhookEvents.nextDueAt([{ projectId, endpoint }])),
    ).toEqual([NOW]);
    expect(
      await storage.unitOfWork.read((stores) => stores.jobs.stillLeased([attempted.job], NOW + LEASE_MS)),
    ).toEqual([attempted.job]);
  });

  it('RecordDeliveries stores no result under a lease that is not the newest', async () => {
    const attempted = await attemptedEvent();
    await storage.unitOfWork.run((stores) =>
      stores.jobs.lease({ workerId: 'worker', now: NOW + LEASE_MS, until: NOW + 2 * LEASE_MS, limit: 10 }),
    );
    await recorder().execute({
      ...attempted,
      result: { kind: 'responded', status: 410, retryAfterMs: null },
    });
    expect(await storage.unitOfWork.run(eventsOf)).toEqual([attempted.event]);
    const destination = destinationKey(attempted.event);
    const breakers = await storage.unitOfWork.read((stores) => stores.circuitBreakers.read([destination]));
    expect(breakers).toEqual(new Map());
  });

  it('RecordDeliveries stores no result of an event that changed since it was attempted', async () => {
    const attempted = await attemptedEvent();
    const [changed] = await storage.unitOfWork.run((stores) =>
      stores.webhookEvents.save([{ ...attempted.event, attempts: 1, lastError: 'HTTP 500' }]),
    );
    await recorder().execute({
      ...attempted,
      result: { kind: 'responded', status: 410, retryAfterMs: null },
    });
    expect(await storage.unitOfWork.run(eventsOf)).toEqual([changed]);
    const destination = destinationKey(attempted.event);
    const breakers = await storage.unitOfWork.read((stores) => stores.circuitBreakers.read([destination]));
    expect(breakers.get(destination) ?? CLOSED_CIRCUIT).toEqual(CLOSED_CIRCUIT);
  });

  it('ReleaseJobs releases a job, due when its next event is, or when its circuit lets one through', async () => {
    const { job, event } = await attemptedEvent();
    await releaseJobs().execute({ job, notBefore: 0 });
    expect(await storage.unitOfWork.read((stores) => stores.jobs.nextDue())).toMatchObject({
      id: job.id,
      dueAt: event.nextAttemptAt,
    });
    const [again] = await storage.unitOfWork.run((stores) =>
      stores.jobs.lease({ workerId: 'worker', now: NOW, until: NOW + LEASE_MS, limit: 10 }),
    );
    await releaseJobs().execute({ job: again as LeasedJob<WebhookWork>, notBefore: NOW + 60_000 });
    expect(await storage.unitOfWork.read((stores) => stores.jobs.nextDue())).toMatchObject({
      id: job.id,
      dueAt: NOW + 60_000,
    });
  });

  it('ReleaseJobs leaves a job as it is that another process has leased meanwhile', async () => {
    const { job } = await attemptedEvent();
    const [newer] = await storage.unitOfWork.run((stores) =>
      stores.jobs.lease({ workerId: 'worker', now: NOW + LEASE_MS, until: NOW + 2 * LEASE_MS, limit: 10 }),
    );
    if (newer === undefined) throw new Error('The lease is over');
    await releaseJobs().execute({ job, notBefore: 0 });
    expect(
      await storage.unitOfWork.read((stores) => stores.jobs.stillLeased([newer], NOW + 2 * LEASE_MS)),
    ).toEqual([newer]);
  });
}

import { ContainerModule } from 'inversify';
import { BackgroundWork } from '../../../application/concurrency/background-work.ts';
import { RenewLeases } from '../../../application/jobs/renew-leases.ts';
import { WorkerHeartbeat } from '../../../application/jobs/worker-heartbeat.ts';
import { AcceptInbound } from '../../../application/webhooks/accept-inbound.ts';
import { AttemptDelivery } from '../../../application/webhooks/attempt-delivery.ts';
import { CurrentInboundWebhooks } from '../../../application/webhooks/current-inbound-webhooks.ts';
import { DeliverWebhooks } from '../../../application/webhooks/deliver-webhooks.ts';
import { EnqueueWebhooks } from '../../../application/webhooks/enqueue-webhooks.ts';
import { FetchDueEvents } from '../../../application/webhooks/fetch-due-events.ts';
import { RecordDeliveries } from '../../../application/webhooks/record-deliveries.ts';
import { ReleaseJobs } from '../../../application/webhooks/release-jobs.ts';
import { SealWebhook } from '../../../application/webhooks/seal-webhook.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';

const {
  clock,
  eventLoop,
  fetchInterval,
  hmac,
  idSource,
  logger,
  recordBatchWindow,
  secretBox,
  unitOfWork,
  wakeSignal,
  webhookTransport,
} = ports;

/** Webhooks. */
export const webhooks = new ContainerModule(({ bind }) => {
  wire(bind, SealWebhook, { webhookTransport, secretBox });
  wire(bind, EnqueueWebhooks, { clock, ids: idSource });
  wire(bind, RecordDeliveries, { unitOfWork, recordBatchWindow, clock, ids: idSource, logger });
  wire(bind, FetchDueEvents, { unitOfWork, clock });
  wire(bind, CurrentInboundWebhooks, { unitOfWork, clock });
  wire(bind, AttemptDelivery, {
    webhookTransport,
    secretBox,
    hmac,
    currentInboundWebhooks: CurrentInboundWebhooks,
  });
  wire(bind, ReleaseJobs, { unitOfWork, clock, wakeSignal });
  wire(bind, DeliverWebhooks, {
    fetchDueEvents: FetchDueEvents,
    attemptDelivery: AttemptDelivery,
    recordDeliveries: RecordDeliveries,
    renewLeases: RenewLeases,
    releaseJobs: ReleaseJobs,
    background: BackgroundWork,
    clock,
    logger,
    workerHeartbeat: WorkerHeartbeat,
    fetchInterval,
  });
  wire(bind, AcceptInbound, {
    unitOfWork,
    enqueueWebhooks: EnqueueWebhooks,
    clock,
    ids: idSource,
    wakeSignal,
    eventLoop,
  });
});

import { ContainerModule } from 'inversify';
import { RunAttemptJobs } from '../../../application/attempts/run-attempt-jobs.ts';
import { RunCampaignStarts, RunCampaignStops } from '../../../application/campaigns/run-campaign-jobs.ts';
import { CheckHealth } from '../../../application/check-health.ts';
import { BackgroundWork } from '../../../application/concurrency/background-work.ts';
import { RecordJobFailure } from '../../../application/jobs/record-job-failure.ts';
import { RelayJobs } from '../../../application/jobs/relay-jobs.ts';
import { RenewLeases } from '../../../application/jobs/renew-leases.ts';
import { RunJobs } from '../../../application/jobs/run-jobs.ts';
import { SurveyWork } from '../../../application/jobs/survey-work.ts';
import { WorkerHeartbeat } from '../../../application/jobs/worker-heartbeat.ts';
import { MakeReports } from '../../../application/reports/make-reports.ts';
import { RemoveReports } from '../../../application/reports/remove-reports.ts';
import { RunRetention } from '../../../application/retention/run-retention.ts';
import { DeliverWebhooks } from '../../../application/webhooks/deliver-webhooks.ts';
import { RunWhatsappSync } from '../../../application/whatsapp/run-whatsapp-sync.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';

const { channelProviders, clock, heartbeatInterval, jobQueue, logger, unitOfWork, wakeSignal, workerId } =
  ports;

/** Jobs: who does those of each kind, and how they come to workers. */
export const jobs = new ContainerModule(({ bind }) => {
  wire(bind, BackgroundWork, { logger });
  wire(bind, RenewLeases, { unitOfWork, clock, workerId });
  wire(bind, RecordJobFailure, { unitOfWork, clock, logger });
  wire(bind, RunJobs, {
    'start-attempt': RunAttemptJobs,
    'attempt-deadline': RunAttemptJobs,
    'deliver-webhooks': DeliverWebhooks,
    'start-campaign': RunCampaignStarts,
    'stop-campaign': RunCampaignStops,
    'make-report': MakeReports,
    'remove-report': RemoveReports,
    'run-retention': RunRetention,
    'sync-whatsapp': RunWhatsappSync,
    recordJobFailure: RecordJobFailure,
    clock,
    wakeSignal,
  });
  wire(bind, RelayJobs, { unitOfWork, jobQueue, clock, logger, workerId });
  wire(bind, WorkerHeartbeat, { unitOfWork, heartbeatInterval, clock, logger, wakeSignal, workerId });
  wire(bind, SurveyWork, { unitOfWork, clock });
  wire(bind, CheckHealth, { unitOfWork, jobQueue, channelProviders, clock });
});

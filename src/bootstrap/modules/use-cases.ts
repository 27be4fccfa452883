import { ContainerModule } from 'inversify';
import { AddressRates } from '../../application/access/address-rates.ts';
import { AuthenticateProject } from '../../application/access/authenticate-project.ts';
import { CheckSecretKey } from '../../application/access/check-secret-key.ts';
import { CachedProjectKeys, StoredProjectKeys } from '../../application/access/project-keys.ts';
import { BackgroundWork } from '../../application/background-work.ts';
import { AuditLedger } from '../../application/billing/audit-ledger.ts';
import { AttachRecipients } from '../../application/campaigns/attach-recipients.ts';
import { BrowseCampaigns } from '../../application/campaigns/browse-campaigns.ts';
import { CampaignGate } from '../../application/campaigns/campaign-gate.ts';
import { CampaignLimits } from '../../application/campaigns/campaign-limits.ts';
import { ManageCampaigns } from '../../application/campaigns/manage-campaigns.ts';
import { PreflightCampaigns } from '../../application/campaigns/preflight-campaigns.ts';
import { StartCampaigns } from '../../application/campaigns/start-campaigns.ts';
import { CachedPriceList, StoredPriceList } from '../../application/catalog/current-prices.ts';
import { ReadCatalog } from '../../application/catalog/read-catalog.ts';
import { CheckHealth } from '../../application/check-health.ts';
import { RecordJobFailure } from '../../application/jobs/record-job-failure.ts';
import { RedriveJobs } from '../../application/jobs/redrive-jobs.ts';
import { RelayJobs } from '../../application/jobs/relay-jobs.ts';
import { RenewLeases } from '../../application/jobs/renew-leases.ts';
import { RunJobs } from '../../application/jobs/run-jobs.ts';
import { WorkerHeartbeat } from '../../application/jobs/worker-heartbeat.ts';
import { AdvanceMessages } from '../../application/messages/advance-messages.ts';
import { ApplyMessageEvents } from '../../application/messages/apply-message-events.ts';
import { CorrelateReceipts } from '../../application/messages/correlate-receipts.ts';
import { ReceiveCallbacks } from '../../application/messages/receive-callbacks.ts';
import { RecordProviderEvents } from '../../application/messages/record-provider-events.ts';
import { RevokeAttempts } from '../../application/messages/revoke-attempts.ts';
import { RunAttemptJobs } from '../../application/messages/run-attempt-jobs.ts';
import { SealDeliveryReport } from '../../application/messages/seal-delivery-report.ts';
import { SendMessages } from '../../application/messages/send-messages.ts';
import { StopCampaigns } from '../../application/messages/stop-campaigns.ts';
import { SubmissionCapacity } from '../../application/messages/submission-capacity.ts';
import { SubmitAttempts } from '../../application/messages/submit-attempts.ts';
import { TrackMessage } from '../../application/messages/track-message.ts';
import { UntriedMessages } from '../../application/messages/untried-messages.ts';
import { ManageCredit } from '../../application/operators/manage-credit.ts';
import { ManageKeys } from '../../application/operators/manage-keys.ts';
import { ManageProjects } from '../../application/operators/manage-projects.ts';
import { ReadAuditLog } from '../../application/operators/read-audit-log.ts';
import { ReadStatement } from '../../application/operators/read-statement.ts';
import { BrowseReports } from '../../application/reports/browse-reports.ts';
import { MakeReports } from '../../application/reports/make-reports.ts';
import { RemoveReports } from '../../application/reports/remove-reports.ts';
import { RequestReports } from '../../application/reports/request-reports.ts';
import { ApplySeed } from '../../application/seed/apply-seed.ts';
import { AcceptInbound } from '../../application/webhooks/accept-inbound.ts';
import { AttemptDelivery } from '../../application/webhooks/attempt-delivery.ts';
import { DeliverWebhooks } from '../../application/webhooks/deliver-webhooks.ts';
import { EnqueueWebhooks } from '../../application/webhooks/enqueue-webhooks.ts';
import { FetchDueEvents } from '../../application/webhooks/fetch-due-events.ts';
import { InboundLog } from '../../application/webhooks/inbound-log.ts';
import { RecordAttempts } from '../../application/webhooks/record-attempts.ts';
import { ReleaseJobs } from '../../application/webhooks/release-jobs.ts';
import { RunWhatsappSync } from '../../application/whatsapp/run-whatsapp-sync.ts';
import { SyncWhatsapp } from '../../application/whatsapp/sync-whatsapp.ts';
import { WhatsappPlatforms } from '../../application/whatsapp/whatsapp-platforms.ts';
import { ports } from '../tokens.ts';
import { wire } from '../wire.ts';

const { clock, idSource, logger, keyHasher, requestHasher, unitOfWork, jobQueue } = ports;
const { channelProviders, providerCallbacks, wakeSignal } = ports;
const { webhookTransport, secretBox, hmac, recordBatchWindow, fetchInterval, submitTimeout } = ports;
const { heartbeatInterval, workerId, campaignLimits, whatsappPlatforms } = ports;
const { reportFiles, csvEncoder, reportPollingInterval, renewInterval } = ports;

/** Every use case and what it is made of. */
export const useCases = new ContainerModule(({ bind }) => {
  wire(bind, StoredProjectKeys, { unitOfWork, keyHasher, clock });
  wire(bind, CachedProjectKeys, { source: StoredProjectKeys, keyHasher, clock });
  wire(bind, AuthenticateProject, { projectKeys: CachedProjectKeys });
  wire(bind, AddressRates, { clock });
  wire(bind, CheckSecretKey, { unitOfWork, keyHasher });
  wire(bind, StoredPriceList, { unitOfWork });
  wire(bind, CachedPriceList, { source: StoredPriceList, clock });
  wire(bind, SealDeliveryReport, { webhookTransport, secretBox });
  wire(bind, BackgroundWork, { logger });
  wire(bind, UntriedMessages, { unitOfWork, background: BackgroundWork, clock });
  wire(bind, SendMessages, {
    unitOfWork,
    currentPrices: CachedPriceList,
    channelProviders,
    sealDeliveryReport: SealDeliveryReport,
    untriedMessages: UntriedMessages,
    requestHasher,
    clock,
    ids: idSource,
    wakeSignal,
  });
  wire(bind, TrackMessage, { unitOfWork });
  wire(bind, ReadCatalog, { unitOfWork });
  wire(bind, EnqueueWebhooks, { clock, ids: idSource });
  bind(SubmissionCapacity).toResolvedValue(() => new SubmissionCapacity());
  wire(bind, CampaignLimits, { campaignLimits });
  wire(bind, AdvanceMessages, {
    clock,
    enqueueWebhooks: EnqueueWebhooks,
    channelProviders,
    submissionCapacity: SubmissionCapacity,
    campaignLimits: CampaignLimits,
  });
  wire(bind, CorrelateReceipts, { clock });
  wire(bind, RevokeAttempts, { channelProviders, background: BackgroundWork });
  wire(bind, ApplyMessageEvents, {
    unitOfWork,
    correlateReceipts: CorrelateReceipts,
    advanceMessages: AdvanceMessages,
    revokeAttempts: RevokeAttempts,
    wakeSignal,
    clock,
    logger,
  });
  wire(bind, RecordProviderEvents, {
    applyMessageEvents: ApplyMessageEvents,
    acceptInbound: AcceptInbound,
  });
  wire(bind, ReceiveCallbacks, {
    providerCallbacks,
    recordProviderEvents: RecordProviderEvents,
    clock,
    logger,
  });
  wire(bind, SubmitAttempts, {
    applyMessageEvents: ApplyMessageEvents,
    channelProviders,
    submissionCapacity: SubmissionCapacity,
    submitTimeout,
    clock,
    logger,
  });
  wire(bind, RecordAttempts, { unitOfWork, recordBatchWindow, clock, ids: idSource, logger });
  wire(bind, FetchDueEvents, { unitOfWork, clock });
  wire(bind, AttemptDelivery, { webhookTransport, secretBox, hmac });
  wire(bind, ReleaseJobs, { unitOfWork, clock, wakeSignal });
  wire(bind, RenewLeases, { unitOfWork, clock, workerId });
  wire(bind, DeliverWebhooks, {
    fetchDueEvents: FetchDueEvents,
    attemptDelivery: AttemptDelivery,
    recordAttempts: RecordAttempts,
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
  });
  wire(bind, InboundLog, { unitOfWork, clock, wakeSignal });
  wire(bind, RunAttemptJobs, {
    unitOfWork,
    advanceMessages: AdvanceMessages,
    applyMessageEvents: ApplyMessageEvents,
    submitAttempts: SubmitAttempts,
    revokeAttempts: RevokeAttempts,
    background: BackgroundWork,
  });
  wire(bind, ManageCampaigns, {
    unitOfWork,
    currentPrices: CachedPriceList,
    clock,
    ids: idSource,
    wakeSignal,
  });
  wire(bind, AttachRecipients, {
    unitOfWork,
    currentPrices: CachedPriceList,
    requestHasher,
    clock,
    ids: idSource,
  });
  wire(bind, StartCampaigns, {
    unitOfWork,
    currentPrices: CachedPriceList,
    channelProviders,
    requestHasher,
    clock,
    ids: idSource,
    logger,
    wakeSignal,
    campaignLimits,
  });
  wire(bind, StopCampaigns, { unitOfWork, advanceMessages: AdvanceMessages, clock });
  wire(bind, PreflightCampaigns, {
    unitOfWork,
    currentPrices: CachedPriceList,
    channelProviders,
    clock,
    campaignLimits,
  });
  bind(CampaignGate).toResolvedValue(() => new CampaignGate());
  wire(bind, BrowseCampaigns, { unitOfWork });
  wire(bind, RecordJobFailure, { unitOfWork, clock, logger });
  wire(bind, RequestReports, {
    unitOfWork,
    requestHasher,
    clock,
    ids: idSource,
    wakeSignal,
    reportPollingInterval,
  });
  wire(bind, MakeReports, {
    unitOfWork,
    reportFiles,
    csvEncoder,
    renewLeases: RenewLeases,
    recordJobFailure: RecordJobFailure,
    background: BackgroundWork,
    clock,
    renewInterval,
  });
  wire(bind, RemoveReports, { unitOfWork, reportFiles, clock });
  wire(bind, BrowseReports, { unitOfWork, reportFiles, clock, logger });
  wire(bind, WhatsappPlatforms, { platforms: whatsappPlatforms });
  wire(bind, SyncWhatsapp, { unitOfWork, platform: WhatsappPlatforms, clock, ids: idSource, logger });
  wire(bind, RunWhatsappSync, {
    unitOfWork,
    whatsappPlatforms: WhatsappPlatforms,
    syncWhatsapp: SyncWhatsapp,
    renewLeases: RenewLeases,
    recordJobFailure: RecordJobFailure,
    background: BackgroundWork,
    clock,
    renewInterval,
  });
  wire(bind, RunJobs, {
    runAttemptJobs: RunAttemptJobs,
    deliverWebhooks: DeliverWebhooks,
    startCampaigns: StartCampaigns,
    stopCampaigns: StopCampaigns,
    makeReports: MakeReports,
    removeReports: RemoveReports,
    runWhatsappSync: RunWhatsappSync,
    recordJobFailure: RecordJobFailure,
    clock,
    wakeSignal,
  });
  wire(bind, RelayJobs, { unitOfWork, jobQueue, clock, logger, workerId });
  wire(bind, WorkerHeartbeat, { unitOfWork, heartbeatInterval, clock, logger, wakeSignal, workerId });
  wire(bind, RedriveJobs, { unitOfWork, clock });
  wire(bind, AuditLedger, { unitOfWork });
  wire(bind, ManageProjects, { unitOfWork, clock, ids: idSource });
  wire(bind, ManageKeys, { unitOfWork, keyHasher, clock, ids: idSource });
  wire(bind, ManageCredit, { unitOfWork, requestHasher, clock, ids: idSource });
  wire(bind, ReadStatement, { unitOfWork, clock });
  wire(bind, ReadAuditLog, { unitOfWork });
  wire(bind, ApplySeed, { unitOfWork, keyHasher, secretBox, webhookTransport, clock });
  wire(bind, CheckHealth, { unitOfWork, jobQueue, channelProviders, clock });
});

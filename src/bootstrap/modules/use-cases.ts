import { ContainerModule } from 'inversify';
import { AddressRates } from '../../application/access/address-rates.ts';
import { AuthenticateProject } from '../../application/access/authenticate-project.ts';
import { CheckSecretKey } from '../../application/access/check-secret-key.ts';
import { KeyUses } from '../../application/access/key-uses.ts';
import { CachedProjectKeys, StoredProjectKeys } from '../../application/access/project-keys.ts';
import { AdmitStarts } from '../../application/attempts/admit-starts.ts';
import { AdvanceMessages } from '../../application/attempts/advance-messages.ts';
import { ApplyMessageEvents } from '../../application/attempts/apply-message-events.ts';
import { CampaignLimits } from '../../application/attempts/campaign-limits.ts';
import { CommitAttempts } from '../../application/attempts/commit-attempts.ts';
import { CorrelateReceipts } from '../../application/attempts/correlate-receipts.ts';
import { RevokeAttempts } from '../../application/attempts/revoke-attempts.ts';
import { RunAttemptJobs } from '../../application/attempts/run-attempt-jobs.ts';
import { StartWaitingAttempts } from '../../application/attempts/start-waiting-attempts.ts';
import { SubmissionCapacity } from '../../application/attempts/submission-capacity.ts';
import { SubmitAttempts } from '../../application/attempts/submit-attempts.ts';
import { WaitingStarts } from '../../application/attempts/waiting-starts.ts';
import { AuditLedger } from '../../application/billing/audit-ledger.ts';
import { NoticeLowCredit } from '../../application/billing/notice-low-credit.ts';
import { AttachRecipients } from '../../application/campaigns/attach-recipients.ts';
import { BrowseCampaigns } from '../../application/campaigns/browse-campaigns.ts';
import { CampaignGate } from '../../application/campaigns/campaign-gate.ts';
import { ManageCampaigns } from '../../application/campaigns/manage-campaigns.ts';
import { PreflightCampaigns } from '../../application/campaigns/preflight-campaigns.ts';
import { RunCampaignStarts, RunCampaignStops } from '../../application/campaigns/run-campaign-jobs.ts';
import { StartCampaigns } from '../../application/campaigns/start-campaigns.ts';
import { StopCampaigns } from '../../application/campaigns/stop-campaigns.ts';
import { CurrentPrices } from '../../application/catalog/current-prices.ts';
import { ReadCatalog } from '../../application/catalog/read-catalog.ts';
import { CheckHealth } from '../../application/check-health.ts';
import { BackgroundWork } from '../../application/concurrency/background-work.ts';
import { RecordJobFailure } from '../../application/jobs/record-job-failure.ts';
import { RelayJobs } from '../../application/jobs/relay-jobs.ts';
import { RenewLeases } from '../../application/jobs/renew-leases.ts';
import { RunJobs } from '../../application/jobs/run-jobs.ts';
import { SurveyWork } from '../../application/jobs/survey-work.ts';
import { WorkerHeartbeat } from '../../application/jobs/worker-heartbeat.ts';
import { ManageCredit } from '../../application/operators/manage-credit.ts';
import { ManageJobs } from '../../application/operators/manage-jobs.ts';
import { ManageKeys } from '../../application/operators/manage-keys.ts';
import { ManageProjects } from '../../application/operators/manage-projects.ts';
import { ManageReports } from '../../application/operators/manage-reports.ts';
import { ManageSenderIds } from '../../application/operators/manage-sender-ids.ts';
import { ManageWhatsapp } from '../../application/operators/manage-whatsapp.ts';
import { ImportPrices } from '../../application/operators/prices/import-prices.ts';
import { ManagePrices } from '../../application/operators/prices/manage-prices.ts';
import { ReadAuditLog } from '../../application/operators/read-audit-log.ts';
import { ReadStatement } from '../../application/operators/read-statement.ts';
import { RefillDemo } from '../../application/operators/refill-demo.ts';
import { SearchMessages } from '../../application/operators/search-messages.ts';
import { TraceMessage } from '../../application/operators/trace-message.ts';
import { ListenToWebhooks } from '../../application/operators/webhooks/listen-to-webhooks.ts';
import { ManageInboundWebhooks } from '../../application/operators/webhooks/manage-inbound-webhooks.ts';
import { ManageWebhooks } from '../../application/operators/webhooks/manage-webhooks.ts';
import { ReadWebhookLog } from '../../application/operators/webhooks/read-webhook-log.ts';
import { ReceiveCallbacks } from '../../application/receipts/receive-callbacks.ts';
import { RecordProviderEvents } from '../../application/receipts/record-provider-events.ts';
import { BrowseReports } from '../../application/reports/browse-reports.ts';
import { MakeReports } from '../../application/reports/make-reports.ts';
import { RemoveReports } from '../../application/reports/remove-reports.ts';
import { RequestReports } from '../../application/reports/request-reports.ts';
import { MarkRestored } from '../../application/restores/mark-restored.ts';
import { RestorePoint } from '../../application/restores/restore-point.ts';
import { RetainCampaigns } from '../../application/retention/retain-campaigns.ts';
import { RetainMessages } from '../../application/retention/retain-messages.ts';
import { RetainReports } from '../../application/retention/retain-reports.ts';
import { RetainWebhooks } from '../../application/retention/retain-webhooks.ts';
import { RunRetention } from '../../application/retention/run-retention.ts';
import { ApplySeed } from '../../application/seed/apply-seed.ts';
import { SendMessages } from '../../application/sending/send-messages.ts';
import { TrackMessage } from '../../application/sending/track-message.ts';
import { UntriedMessages } from '../../application/sending/untried-messages.ts';
import { AcceptInbound } from '../../application/webhooks/accept-inbound.ts';
import { AttemptDelivery } from '../../application/webhooks/attempt-delivery.ts';
import { CurrentInboundWebhooks } from '../../application/webhooks/current-inbound-webhooks.ts';
import { DeliverWebhooks } from '../../application/webhooks/deliver-webhooks.ts';
import { EnqueueWebhooks } from '../../application/webhooks/enqueue-webhooks.ts';
import { FetchDueEvents } from '../../application/webhooks/fetch-due-events.ts';
import { RecordDeliveries } from '../../application/webhooks/record-deliveries.ts';
import { ReleaseJobs } from '../../application/webhooks/release-jobs.ts';
import { SealWebhook } from '../../application/webhooks/seal-webhook.ts';
import { RunWhatsappSync } from '../../application/whatsapp/run-whatsapp-sync.ts';
import { SyncWhatsapp } from '../../application/whatsapp/sync-whatsapp.ts';
import { WhatsappPlatforms } from '../../application/whatsapp/whatsapp-platforms.ts';
import { ports } from '../tokens.ts';
import { wire } from '../wire.ts';

const { clock, idSource, logger, keyHasher, requestHasher, unitOfWork, jobQueue } = ports;
const { channelProviders, providerCallbacks, wakeSignal } = ports;
const {
  webhookTransport,
  secretBox,
  hmac,
  recordBatchWindow,
  fetchInterval,
  submitTimeout,
  resultRetryDelay,
} = ports;
const { keyUseInterval } = ports;
const { heartbeatInterval, workerId, keepsPlatformLimits, whatsappPlatforms } = ports;
const {
  reportFiles,
  csvDecoder,
  csvEncoder,
  reportPollingInterval,
  lockRetryDelay,
  renewInterval,
  sliceBudget,
  sliceDelay,
} = ports;

const projectJobPorts = {
  renewLeases: RenewLeases,
  recordJobFailure: RecordJobFailure,
  background: BackgroundWork,
  clock,
  renewInterval,
  lockRetryDelay,
  wakeSignal,
};

/** Every use case and what it is made of. */
export const useCases = new ContainerModule(({ bind }) => {
  wire(bind, StoredProjectKeys, { unitOfWork, keyHasher, clock });
  wire(bind, CachedProjectKeys, { source: StoredProjectKeys, keyHasher, clock });
  wire(bind, KeyUses, { unitOfWork, keyHasher, keyUseInterval, clock, logger });
  wire(bind, AuthenticateProject, { projectKeys: CachedProjectKeys, keyUses: KeyUses });
  wire(bind, AddressRates, { clock });
  wire(bind, CheckSecretKey, { unitOfWork, keyHasher });
  wire(bind, CurrentPrices, {});
  wire(bind, SealWebhook, { webhookTransport, secretBox });
  wire(bind, BackgroundWork, { logger });
  wire(bind, UntriedMessages, { unitOfWork, background: BackgroundWork, clock });
  wire(bind, SendMessages, {
    unitOfWork,
    currentPrices: CurrentPrices,
    channelProviders,
    sealWebhook: SealWebhook,
    untriedMessages: UntriedMessages,
    noticeLowCredit: NoticeLowCredit,
    requestHasher,
    clock,
    ids: idSource,
    wakeSignal,
  });
  wire(bind, TrackMessage, { unitOfWork });
  wire(bind, ReadCatalog, { unitOfWork, clock });
  wire(bind, EnqueueWebhooks, { clock, ids: idSource });
  wire(bind, NoticeLowCredit, { enqueueWebhooks: EnqueueWebhooks, ids: idSource, logger, wakeSignal });
  bind(SubmissionCapacity).toResolvedValue(() => new SubmissionCapacity());
  wire(bind, CampaignLimits, { keepsPlatformLimits });
  wire(bind, RestorePoint, { unitOfWork });
  wire(bind, MarkRestored, { unitOfWork, clock, ids: idSource });
  wire(bind, WaitingStarts, { submissionCapacity: SubmissionCapacity, clock });
  wire(bind, AdmitStarts, {
    channelProviders,
    submissionCapacity: SubmissionCapacity,
    waitingStarts: WaitingStarts,
    campaignLimits: CampaignLimits,
  });
  wire(bind, AdvanceMessages, {
    clock,
    ids: idSource,
    enqueueWebhooks: EnqueueWebhooks,
    admitStarts: AdmitStarts,
    restorePoint: RestorePoint,
  });
  wire(bind, CorrelateReceipts, { clock });
  wire(bind, RevokeAttempts, { channelProviders, background: BackgroundWork });
  wire(bind, ApplyMessageEvents, {
    unitOfWork,
    correlateReceipts: CorrelateReceipts,
    advanceMessages: AdvanceMessages,
    revokeAttempts: RevokeAttempts,
    wakeSignal,
    resultRetryDelay,
    clock,
    logger,
  });
  wire(bind, RecordProviderEvents, {
    applyMessageEvents: ApplyMessageEvents,
    acceptInbound: AcceptInbound,
    background: BackgroundWork,
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
    waitingStarts: WaitingStarts,
    submitTimeout,
    background: BackgroundWork,
    clock,
    logger,
  });
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
  wire(bind, RenewLeases, { unitOfWork, clock, workerId });
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
  });
  wire(bind, CommitAttempts, {
    unitOfWork,
    advanceMessages: AdvanceMessages,
    applyMessageEvents: ApplyMessageEvents,
    submitAttempts: SubmitAttempts,
    waitingStarts: WaitingStarts,
    revokeAttempts: RevokeAttempts,
    background: BackgroundWork,
    resultRetryDelay,
  });
  wire(bind, StartWaitingAttempts, {
    waitingStarts: WaitingStarts,
    commitAttempts: CommitAttempts,
    applyMessageEvents: ApplyMessageEvents,
    background: BackgroundWork,
  });
  wire(bind, RunAttemptJobs, {
    commitAttempts: CommitAttempts,
    unitOfWork,
    applyMessageEvents: ApplyMessageEvents,
    background: BackgroundWork,
  });
  wire(bind, ManageCampaigns, {
    unitOfWork,
    currentPrices: CurrentPrices,
    clock,
    ids: idSource,
    wakeSignal,
  });
  wire(bind, AttachRecipients, {
    unitOfWork,
    currentPrices: CurrentPrices,
    requestHasher,
    clock,
    ids: idSource,
  });
  wire(bind, StartCampaigns, {
    unitOfWork,
    currentPrices: CurrentPrices,
    channelProviders,
    noticeLowCredit: NoticeLowCredit,
    requestHasher,
    clock,
    ids: idSource,
    logger,
    wakeSignal,
    keepsPlatformLimits,
  });
  wire(bind, StopCampaigns, { unitOfWork, advanceMessages: AdvanceMessages, clock });
  wire(bind, PreflightCampaigns, {
    unitOfWork,
    currentPrices: CurrentPrices,
    channelProviders,
    clock,
    keepsPlatformLimits,
  });
  wire(bind, CampaignGate, { clock, lockRetryDelay });
  wire(bind, BrowseCampaigns, { unitOfWork });
  wire(bind, RecordJobFailure, { unitOfWork, clock, logger });
  wire(bind, RequestReports, {
    unitOfWork,
    requestHasher,
    clock,
    ids: idSource,
    wakeSignal,
    reportPollingInterval,
    lockRetryDelay,
  });
  wire(bind, MakeReports, {
    unitOfWork,
    reportFiles,
    csvEncoder,
    ...projectJobPorts,
  });
  wire(bind, RemoveReports, { unitOfWork, reportFiles, ...projectJobPorts });
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
  wire(bind, RetainMessages, { unitOfWork, clock });
  wire(bind, RetainCampaigns, { unitOfWork, clock });
  wire(bind, RetainReports, { unitOfWork, clock });
  wire(bind, RetainWebhooks, { unitOfWork, clock });
  wire(bind, RunRetention, {
    unitOfWork,
    retainMessages: RetainMessages,
    retainCampaigns: RetainCampaigns,
    retainReports: RetainReports,
    retainWebhooks: RetainWebhooks,
    renewLeases: RenewLeases,
    recordJobFailure: RecordJobFailure,
    background: BackgroundWork,
    sliceBudget,
    sliceDelay,
    clock,
    renewInterval,
    logger,
  });
  wire(bind, RunCampaignStarts, { ...projectJobPorts, startCampaigns: StartCampaigns });
  wire(bind, RunCampaignStops, { ...projectJobPorts, stopCampaigns: StopCampaigns });
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
  wire(bind, AuditLedger, { unitOfWork });
  wire(bind, ManageProjects, {
    unitOfWork,
    sealWebhook: SealWebhook,
    noticeLowCredit: NoticeLowCredit,
    clock,
    ids: idSource,
  });
  wire(bind, ManageJobs, {
    unitOfWork,
    surveyWork: SurveyWork,
    advanceMessages: AdvanceMessages,
    clock,
    ids: idSource,
    wakeSignal,
  });
  wire(bind, ManageKeys, { unitOfWork, keyHasher, clock, ids: idSource });
  wire(bind, ManageCredit, {
    unitOfWork,
    requestHasher,
    noticeLowCredit: NoticeLowCredit,
    clock,
    ids: idSource,
  });
  wire(bind, ImportPrices, { unitOfWork, requestHasher, csvDecoder, clock, ids: idSource });
  wire(bind, ManagePrices, { unitOfWork, clock, ids: idSource });
  wire(bind, ManageReports, { unitOfWork, clock, ids: idSource });
  wire(bind, ManageSenderIds, { unitOfWork, clock, ids: idSource });
  wire(bind, ManageWhatsapp, { unitOfWork, clock, ids: idSource });
  wire(bind, ManageInboundWebhooks, {
    unitOfWork,
    webhookTransport,
    secretBox,
    clock,
    ids: idSource,
    wakeSignal,
  });
  wire(bind, ReadStatement, { unitOfWork, clock });
  wire(bind, ReadAuditLog, { unitOfWork });
  wire(bind, ListenToWebhooks, { unitOfWork, attemptDelivery: AttemptDelivery, clock });
  wire(bind, RefillDemo, { unitOfWork, keyHasher, noticeLowCredit: NoticeLowCredit, clock, ids: idSource });
  wire(bind, SearchMessages, { unitOfWork });
  wire(bind, TraceMessage, { unitOfWork });
  wire(bind, ReadWebhookLog, { unitOfWork });
  wire(bind, ManageWebhooks, { unitOfWork, clock, ids: idSource, wakeSignal });
  wire(bind, ApplySeed, { unitOfWork, keyHasher, sealWebhook: SealWebhook, clock });
  wire(bind, CheckHealth, { unitOfWork, jobQueue, channelProviders, clock });
});

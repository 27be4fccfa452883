import type { Container, ServiceIdentifier } from 'inversify';
import { AddressRates } from '../application/access/address-rates.ts';
import { AuthenticateProject } from '../application/access/authenticate-project.ts';
import { CheckSecretKey } from '../application/access/check-secret-key.ts';
import { KeyUses } from '../application/access/key-uses.ts';
import { ApplyMessageEvents } from '../application/attempts/apply-message-events.ts';
import { CommitAttempts } from '../application/attempts/commit-attempts.ts';
import { StartWaitingAttempts } from '../application/attempts/start-waiting-attempts.ts';
import { AuditLedger } from '../application/billing/audit-ledger.ts';
import { AttachRecipients } from '../application/campaigns/attach-recipients.ts';
import { BrowseCampaigns } from '../application/campaigns/browse-campaigns.ts';
import { CampaignGate } from '../application/campaigns/campaign-gate.ts';
import { ManageCampaigns } from '../application/campaigns/manage-campaigns.ts';
import { PreflightCampaigns } from '../application/campaigns/preflight-campaigns.ts';
import { StartCampaigns } from '../application/campaigns/start-campaigns.ts';
import { ReadCatalog } from '../application/catalog/read-catalog.ts';
import { CheckHealth } from '../application/check-health.ts';
import { BackgroundWork } from '../application/concurrency/background-work.ts';
import { RelayJobs } from '../application/jobs/relay-jobs.ts';
import { RunJobs } from '../application/jobs/run-jobs.ts';
import { SurveyWork } from '../application/jobs/survey-work.ts';
import { WorkerHeartbeat } from '../application/jobs/worker-heartbeat.ts';
import { ManageCredit } from '../application/operators/manage-credit.ts';
import { ManageJobs } from '../application/operators/manage-jobs.ts';
import { ManageKeys } from '../application/operators/manage-keys.ts';
import { ManageProjects } from '../application/operators/manage-projects.ts';
import { ManageReports } from '../application/operators/manage-reports.ts';
import { ManageSenderIds } from '../application/operators/manage-sender-ids.ts';
import { ManageWhatsapp } from '../application/operators/manage-whatsapp.ts';
import { ImportPrices } from '../application/operators/prices/import-prices.ts';
import { ManagePrices } from '../application/operators/prices/manage-prices.ts';
import { ReadAuditLog } from '../application/operators/read-audit-log.ts';
import { ReadStatement } from '../application/operators/read-statement.ts';
import { RefillDemo } from '../application/operators/refill-demo.ts';
import { SearchMessages } from '../application/operators/search-messages.ts';
import { TraceMessage } from '../application/operators/trace-message.ts';
import { ListenToWebhooks } from '../application/operators/webhooks/listen-to-webhooks.ts';
import { ManageInboundWebhooks } from '../application/operators/webhooks/manage-inbound-webhooks.ts';
import { ManageWebhooks } from '../application/operators/webhooks/manage-webhooks.ts';
import { ReadWebhookLog } from '../application/operators/webhooks/read-webhook-log.ts';
import { ReceiveCallbacks } from '../application/receipts/receive-callbacks.ts';
import { RecordProviderEvents } from '../application/receipts/record-provider-events.ts';
import { BrowseReports } from '../application/reports/browse-reports.ts';
import { RequestReports } from '../application/reports/request-reports.ts';
import { MarkRestored } from '../application/restores/mark-restored.ts';
import { RestorePoint } from '../application/restores/restore-point.ts';
import { RunRetention } from '../application/retention/run-retention.ts';
import { ApplySeed } from '../application/seed/apply-seed.ts';
import { SendMessages } from '../application/sending/send-messages.ts';
import { TrackMessage } from '../application/sending/track-message.ts';
import { AcceptInbound } from '../application/webhooks/accept-inbound.ts';
import { DeliverWebhooks } from '../application/webhooks/deliver-webhooks.ts';
import { RunWhatsappSync } from '../application/whatsapp/run-whatsapp-sync.ts';
import { SyncWhatsapp } from '../application/whatsapp/sync-whatsapp.ts';
import { WhatsappPlatforms } from '../application/whatsapp/whatsapp-platforms.ts';
import { adapters, ports } from './tokens.ts';

/**
 * Everything that bootstrap, the harness and tests of the whole program take out of the container, fetched once.
 * Nothing else gets the container.
 */
export type Roots = ReturnType<typeof resolveRoots>;

/** Resolves the roots of a complete container; a port that nobody bound is named in the error. */
export const resolveRoots = (container: Container) =>
  resolve(container, {
    database: adapters.database,
    simulator: adapters.simulator,
    wakeSignal: adapters.localWakeSignal,
    channelProviders: ports.channelProviders,
    clock: ports.clock,
    csvEncoder: ports.csvEncoder,
    idSource: ports.idSource,
    jobQueue: ports.jobQueue,
    keyHasher: ports.keyHasher,
    providerEvents: ports.providerEvents,
    secretBox: ports.secretBox,
    unitOfWork: ports.unitOfWork,
    webhookTransport: ports.webhookTransport,
    acceptInbound: AcceptInbound,
    addressRates: AddressRates,
    applySeed: ApplySeed,
    attachRecipients: AttachRecipients,
    auditLedger: AuditLedger,
    authenticateProject: AuthenticateProject,
    background: BackgroundWork,
    browseCampaigns: BrowseCampaigns,
    browseReports: BrowseReports,
    campaignGate: CampaignGate,
    checkHealth: CheckHealth,
    checkSecretKey: CheckSecretKey,
    deliverWebhooks: DeliverWebhooks,
    importPrices: ImportPrices,
    keyUses: KeyUses,
    listenToWebhooks: ListenToWebhooks,
    manageCampaigns: ManageCampaigns,
    manageCredit: ManageCredit,
    manageInboundWebhooks: ManageInboundWebhooks,
    manageJobs: ManageJobs,
    manageKeys: ManageKeys,
    managePrices: ManagePrices,
    manageProjects: ManageProjects,
    manageReports: ManageReports,
    manageWebhooks: ManageWebhooks,
    manageWhatsapp: ManageWhatsapp,
    manageSenderIds: ManageSenderIds,
    markRestored: MarkRestored,
    preflightCampaigns: PreflightCampaigns,
    readAuditLog: ReadAuditLog,
    readWebhookLog: ReadWebhookLog,
    readCatalog: ReadCatalog,
    readStatement: ReadStatement,
    receiveCallbacks: ReceiveCallbacks,
    recordProviderEvents: RecordProviderEvents,
    refillDemo: RefillDemo,
    relayJobs: RelayJobs,
    requestReports: RequestReports,
    restorePoint: RestorePoint,
    applyMessageEvents: ApplyMessageEvents,
    commitAttempts: CommitAttempts,
    startWaitingAttempts: StartWaitingAttempts,
    runJobs: RunJobs,
    runRetention: RunRetention,
    runWhatsappSync: RunWhatsappSync,
    searchMessages: SearchMessages,
    sendMessages: SendMessages,
    startCampaigns: StartCampaigns,
    surveyWork: SurveyWork,
    syncWhatsapp: SyncWhatsapp,
    traceMessage: TraceMessage,
    trackMessage: TrackMessage,
    whatsappPlatforms: WhatsappPlatforms,
    workerHeartbeat: WorkerHeartbeat,
  });

function resolve<Found extends object>(
  container: Container,
  identifiers: { readonly [Name in keyof Found]: ServiceIdentifier<Found[Name]> },
): Readonly<Found> {
  const names = Object.keys(identifiers) as (keyof Found)[];
  return Object.fromEntries(names.map((name) => [name, container.get(identifiers[name])])) as Found;
}

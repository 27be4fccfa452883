import type { Container, ServiceIdentifier } from 'inversify';
import { AddressRates } from '../application/access/address-rates.ts';
import { AuthenticateProject } from '../application/access/authenticate-project.ts';
import { CheckSecretKey } from '../application/access/check-secret-key.ts';
import { BackgroundWork } from '../application/background-work.ts';
import { AuditLedger } from '../application/billing/audit-ledger.ts';
import { AttachRecipients } from '../application/campaigns/attach-recipients.ts';
import { BrowseCampaigns } from '../application/campaigns/browse-campaigns.ts';
import { CampaignGate } from '../application/campaigns/campaign-gate.ts';
import { ManageCampaigns } from '../application/campaigns/manage-campaigns.ts';
import { PreflightCampaigns } from '../application/campaigns/preflight-campaigns.ts';
import { StartCampaigns } from '../application/campaigns/start-campaigns.ts';
import { ReadCatalog } from '../application/catalog/read-catalog.ts';
import { CheckHealth } from '../application/check-health.ts';
import { RedriveJobs } from '../application/jobs/redrive-jobs.ts';
import { RelayJobs } from '../application/jobs/relay-jobs.ts';
import { RunJobs } from '../application/jobs/run-jobs.ts';
import { WorkerHeartbeat } from '../application/jobs/worker-heartbeat.ts';
import { ReceiveCallbacks } from '../application/messages/receive-callbacks.ts';
import { RecordProviderEvents } from '../application/messages/record-provider-events.ts';
import { SendMessages } from '../application/messages/send-messages.ts';
import { TrackMessage } from '../application/messages/track-message.ts';
import { ManageCredit } from '../application/operators/manage-credit.ts';
import { ManageKeys } from '../application/operators/manage-keys.ts';
import { ManageProjects } from '../application/operators/manage-projects.ts';
import { ReadAuditLog } from '../application/operators/read-audit-log.ts';
import { ReadStatement } from '../application/operators/read-statement.ts';
import { BrowseReports } from '../application/reports/browse-reports.ts';
import { MakeReports } from '../application/reports/make-reports.ts';
import { RemoveReports } from '../application/reports/remove-reports.ts';
import { RequestReports } from '../application/reports/request-reports.ts';
import { ApplySeed } from '../application/seed/apply-seed.ts';
import { AcceptInbound } from '../application/webhooks/accept-inbound.ts';
import { DeliverWebhooks } from '../application/webhooks/deliver-webhooks.ts';
import { InboundLog } from '../application/webhooks/inbound-log.ts';
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
    inboundLog: InboundLog,
    makeReports: MakeReports,
    manageCampaigns: ManageCampaigns,
    manageCredit: ManageCredit,
    manageKeys: ManageKeys,
    manageProjects: ManageProjects,
    preflightCampaigns: PreflightCampaigns,
    readAuditLog: ReadAuditLog,
    readCatalog: ReadCatalog,
    readStatement: ReadStatement,
    receiveCallbacks: ReceiveCallbacks,
    recordProviderEvents: RecordProviderEvents,
    redriveJobs: RedriveJobs,
    relayJobs: RelayJobs,
    removeReports: RemoveReports,
    requestReports: RequestReports,
    runJobs: RunJobs,
    runWhatsappSync: RunWhatsappSync,
    sendMessages: SendMessages,
    startCampaigns: StartCampaigns,
    syncWhatsapp: SyncWhatsapp,
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

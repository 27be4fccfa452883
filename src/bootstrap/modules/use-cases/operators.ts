import { ContainerModule } from 'inversify';
import { AdvanceMessages } from '../../../application/attempts/advance-messages.ts';
import { AuditLedger } from '../../../application/billing/audit-ledger.ts';
import { NoticeLowCredit } from '../../../application/billing/notice-low-credit.ts';
import { SurveyWork } from '../../../application/jobs/survey-work.ts';
import { ManageCredit } from '../../../application/operators/manage-credit.ts';
import { ManageJobs } from '../../../application/operators/manage-jobs.ts';
import { ManageKeys } from '../../../application/operators/manage-keys.ts';
import { ManageProjects } from '../../../application/operators/manage-projects.ts';
import { ManageReports } from '../../../application/operators/manage-reports.ts';
import { ManageSenderIds } from '../../../application/operators/manage-sender-ids.ts';
import { ManageWhatsapp } from '../../../application/operators/manage-whatsapp.ts';
import { ImportPrices } from '../../../application/operators/prices/import-prices.ts';
import { ManagePrices } from '../../../application/operators/prices/manage-prices.ts';
import { ReadAuditLog } from '../../../application/operators/read-audit-log.ts';
import { ReadStatement } from '../../../application/operators/read-statement.ts';
import { RefillDemo } from '../../../application/operators/refill-demo.ts';
import { SearchMessages } from '../../../application/operators/search-messages.ts';
import { TraceMessage } from '../../../application/operators/trace-message.ts';
import { ListenToWebhooks } from '../../../application/operators/webhooks/listen-to-webhooks.ts';
import { ManageInboundWebhooks } from '../../../application/operators/webhooks/manage-inbound-webhooks.ts';
import { ManageWebhooks } from '../../../application/operators/webhooks/manage-webhooks.ts';
import { ReadWebhookLog } from '../../../application/operators/webhooks/read-webhook-log.ts';
import { MarkRestored } from '../../../application/restores/mark-restored.ts';
import { ApplySeed } from '../../../application/seed/apply-seed.ts';
import { AttemptDelivery } from '../../../application/webhooks/attempt-delivery.ts';
import { SealWebhook } from '../../../application/webhooks/seal-webhook.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';

const {
  clock,
  csvDecoder,
  idSource,
  keyHasher,
  requestHasher,
  secretBox,
  unitOfWork,
  wakeSignal,
  webhookTransport,
} = ports;

/** What operators do, at the admin interface or the command line. */
export const operators = new ContainerModule(({ bind }) => {
  wire(bind, MarkRestored, { unitOfWork, clock, ids: idSource });
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
  wire(bind, ApplySeed, { unitOfWork, keyHasher, sealWebhook: SealWebhook, clock, ids: idSource });
});

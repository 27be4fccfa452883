import { ContainerModule } from 'inversify';
import { AdvanceMessages } from '../../../application/attempts/advance-messages.ts';
import { NoticeLowCredit } from '../../../application/billing/notice-low-credit.ts';
import { AttachRecipients } from '../../../application/campaigns/attach-recipients.ts';
import { BrowseCampaigns } from '../../../application/campaigns/browse-campaigns.ts';
import { CampaignGate } from '../../../application/campaigns/campaign-gate.ts';
import { ManageCampaigns } from '../../../application/campaigns/manage-campaigns.ts';
import { PreflightCampaigns } from '../../../application/campaigns/preflight-campaigns.ts';
import { RunCampaignStarts, RunCampaignStops } from '../../../application/campaigns/run-campaign-jobs.ts';
import { StartCampaigns } from '../../../application/campaigns/start-campaigns.ts';
import { StopCampaigns } from '../../../application/campaigns/stop-campaigns.ts';
import { CurrentPrices } from '../../../application/catalog/current-prices.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';
import { projectJobPorts } from './project-job-ports.ts';

const {
  channelProviders,
  clock,
  eventLoop,
  idSource,
  keepsPlatformLimits,
  lockRetryDelay,
  logger,
  requestHasher,
  unitOfWork,
  wakeSignal,
} = ports;

/** Whatsapp campaigns. */
export const campaigns = new ContainerModule(({ bind }) => {
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
  wire(bind, CampaignGate, { clock, lockRetryDelay, eventLoop });
  wire(bind, BrowseCampaigns, { unitOfWork });
  wire(bind, RunCampaignStarts, { ...projectJobPorts, startCampaigns: StartCampaigns });
  wire(bind, RunCampaignStops, { ...projectJobPorts, stopCampaigns: StopCampaigns });
});

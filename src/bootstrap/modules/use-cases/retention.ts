import { ContainerModule } from 'inversify';
import { BackgroundWork } from '../../../application/concurrency/background-work.ts';
import { RecordJobFailure } from '../../../application/jobs/record-job-failure.ts';
import { RenewLeases } from '../../../application/jobs/renew-leases.ts';
import { RetainCampaigns } from '../../../application/retention/retain-campaigns.ts';
import { RetainMessages } from '../../../application/retention/retain-messages.ts';
import { RetainReports } from '../../../application/retention/retain-reports.ts';
import { RetainWebhooks } from '../../../application/retention/retain-webhooks.ts';
import { RunRetention } from '../../../application/retention/run-retention.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';

const { clock, logger, renewInterval, sliceBudget, sliceDelay, unitOfWork } = ports;

/** What is erased with age. */
export const retention = new ContainerModule(({ bind }) => {
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
});

import { ContainerModule } from 'inversify';
import { AdmitStarts } from '../../../application/attempts/admit-starts.ts';
import { AdvanceMessages } from '../../../application/attempts/advance-messages.ts';
import { ApplyMessageEvents } from '../../../application/attempts/apply-message-events.ts';
import { CampaignLimits } from '../../../application/attempts/campaign-limits.ts';
import { CommitAttempts } from '../../../application/attempts/commit-attempts.ts';
import { CorrelateReceipts } from '../../../application/attempts/correlate-receipts.ts';
import { RevokeAttempts } from '../../../application/attempts/revoke-attempts.ts';
import { RunAttemptJobs } from '../../../application/attempts/run-attempt-jobs.ts';
import { StartWaitingAttempts } from '../../../application/attempts/start-waiting-attempts.ts';
import { SubmissionCapacity } from '../../../application/attempts/submission-capacity.ts';
import { SubmitAttempts } from '../../../application/attempts/submit-attempts.ts';
import { WaitingStarts } from '../../../application/attempts/waiting-starts.ts';
import { BackgroundWork } from '../../../application/concurrency/background-work.ts';
import { ReceiveCallbacks } from '../../../application/receipts/receive-callbacks.ts';
import { RecordProviderEvents } from '../../../application/receipts/record-provider-events.ts';
import { RestorePoint } from '../../../application/restores/restore-point.ts';
import { AcceptInbound } from '../../../application/webhooks/accept-inbound.ts';
import { EnqueueWebhooks } from '../../../application/webhooks/enqueue-webhooks.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';

const {
  channelProviders,
  clock,
  idSource,
  keepsPlatformLimits,
  logger,
  providerCallbacks,
  resultRetryDelay,
  submitTimeout,
  unitOfWork,
  wakeSignal,
} = ports;

/** The attempts of messages, what providers say of them, and what a restored database does not start. */
export const attempts = new ContainerModule(({ bind }) => {
  bind(SubmissionCapacity).toResolvedValue(() => new SubmissionCapacity());
  wire(bind, CampaignLimits, { keepsPlatformLimits });
  wire(bind, RestorePoint, { unitOfWork, clock });
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
});

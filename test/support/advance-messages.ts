import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { AdmitStarts } from '../../src/application/attempts/admit-starts.ts';
import { AdvanceMessages } from '../../src/application/attempts/advance-messages.ts';
import { CampaignLimits } from '../../src/application/attempts/campaign-limits.ts';
import { SubmissionCapacity } from '../../src/application/attempts/submission-capacity.ts';
import { WaitingStarts } from '../../src/application/attempts/waiting-starts.ts';
import type { ChannelProvider } from '../../src/application/ports/channel-provider.ts';
import type { Clock } from '../../src/application/ports/clock.ts';
import { EnqueueWebhooks } from '../../src/application/webhooks/enqueue-webhooks.ts';

/** AdvanceMessages as a process makes it, whose routes have this provider, or none. */
export function advanceMessagesWith({
  clock,
  provider,
  submissionCapacity = new SubmissionCapacity(),
  waitingStarts = new WaitingStarts({ submissionCapacity, clock }),
}: {
  readonly clock: Clock;
  readonly provider?: ChannelProvider | undefined;
  readonly submissionCapacity?: SubmissionCapacity;
  readonly waitingStarts?: WaitingStarts;
}): AdvanceMessages {
  return new AdvanceMessages({
    clock,
    ids: new RandomIdSource(),
    enqueueWebhooks: new EnqueueWebhooks({ clock, ids: new RandomIdSource() }),
    admitStarts: new AdmitStarts({
      channelProviders: { route: () => (provider === undefined ? [] : [provider]) },
      submissionCapacity,
      waitingStarts,
      campaignLimits: new CampaignLimits({ keepsPlatformLimits: true }),
    }),
    restorePoint: { covers: () => false },
  });
}

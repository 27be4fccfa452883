import { smsIdOf } from '../../domain/campaigns/recipient.ts';
import { BUSY_RETRY_MS } from '../../domain/chain/busy-retry.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';
import type { AdvanceMessages, MessageEvent } from '../attempts/advance-messages.ts';
import { type StopCampaignWork, stopCampaignJob } from '../jobs/campaign-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface StopPorts {
  readonly unitOfWork: UnitOfWork;
  readonly advanceMessages: AdvanceMessages;
  readonly clock: Clock;
}

const STOPPED_REASON = 'The campaign was stopped';

/**
 * Withdraws the messages of campaigns that cannot go on: their recipients fail, and what was held for them is released. A
 * message that is with its provider at the moment keeps its course; it is cancelled later when the provider is busy.
 */
export class StopCampaigns {
  readonly #ports: StopPorts;

  constructor(ports: StopPorts) {
    this.#ports = ports;
  }

  /** Rejects with `StorageLocked` when a row is locked, and nothing has happened. */
  async execute(job: LeasedJob<StopCampaignWork>): Promise<void> {
    const { unitOfWork, advanceMessages, clock } = this.#ports;
    const { projectId, campaignId } = job.work;
    await unitOfWork.run(
      async (stores) => {
        const queued = await queuedOf(stores.recipients.ofCampaign(campaignId));
        const event = { kind: 'cancel', attemptNumber: 0, reason: STOPPED_REASON } as const;
        await advanceMessages.execute(stores, {
          events: queued.map((id): MessageEvent => ({ smsId: smsIdOf(id), event })),
        });
        const isHeld = (await stores.jobs.complete([job])).length > 0;
        const left = await queuedOf(stores.recipients.ofCampaign(campaignId));
        if (!isHeld || left.length === 0) return;
        const now = clock.now();
        await stores.jobs.add([stopCampaignJob({ id: campaignId, projectId }, now + BUSY_RETRY_MS)], now);
      },
      'full',
      'brief',
    );
  }
}

async function queuedOf(
  recipients: Promise<readonly { readonly id: string; readonly status: string }[]>,
): Promise<readonly string[]> {
  return (await recipients).filter(({ status }) => status === 'queued').map(({ id }) => id);
}

import { advanceCampaign, type CampaignChanges } from '../../domain/campaigns/campaign-progress.ts';
import { progressOf, recipientIdOf } from '../../domain/campaigns/recipient.ts';
import type { Message } from '../../domain/messages/message.ts';
import { groupBy } from '../group-by.ts';
import { stopCampaignJob } from '../jobs/campaign-jobs.ts';
import type { Stores } from '../ports/stores.ts';

/** A message before and after what happened to it. */
export interface MessageChange {
  readonly before: Message;
  readonly after: Message;
}

interface Progress {
  readonly changes: readonly MessageChange[];
  /** Why campaigns cannot go on, by their ids. */
  readonly stopReasons: ReadonlyMap<string, string>;
  readonly now: number;
}

/**
 * Tells campaigns what became of their messages: writes the recipients, and moves counts, money and status of the
 * campaigns on. A campaign that stops gets a job that cancels its other recipients. Runs inside the transaction that
 * changed the messages.
 */
export async function recordCampaignProgress(
  { campaigns, recipients, jobs }: Pick<Stores, 'campaigns' | 'recipients' | 'jobs'>,
  { changes, stopReasons, now }: Progress,
): Promise<void> {
  const relevant = changes.filter(isRelevant);
  if (relevant.length === 0) return;
  const progressed = relevant.map(({ before, after }) => ({
    message: after,
    before: progressOf(before, now),
    after: progressOf(after, now),
    cost: after.cost,
  }));
  const byCampaign = groupBy(progressed, ({ message }) => message.campaignId as string);
  const before = await campaigns.lock([...byCampaign.keys()]);
  const after = before.map((campaign) => {
    const of: CampaignChanges = {
      recipients: byCampaign.get(campaign.id) ?? [],
      stopReason: stopReasons.get(campaign.id) ?? null,
    };
    return advanceCampaign(campaign, of, now);
  });
  const stopped = after.filter(
    ({ id, status }, index) =>
      stopReasons.has(id) && status === 'failed' && before[index]?.status === 'running',
  );
  await Promise.all([
    recipients.saveProgress(
      progressed.map(({ message, after: progress }) => ({ id: recipientIdOf(message.smsId), progress })),
    ),
    campaigns.save(after),
    jobs.add(
      stopped.map((campaign) => stopCampaignJob(campaign, now)),
      now,
    ),
  ]);
}

/** Whether the message changes the progress of a recipient. */
function isRelevant({ before, after }: MessageChange): boolean {
  return after.campaignId !== null && (after.status !== before.status || after.isFinal !== before.isFinal);
}

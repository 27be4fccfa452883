import {
  advanceCampaign,
  type CampaignChanges,
  type RecipientChange,
} from '../../domain/campaigns/campaign-progress.ts';
import { progressOf, recipientIdOf } from '../../domain/campaigns/recipient.ts';
import type { Message } from '../../domain/messages/message.ts';
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
 * campaigns on. A campaign that stops gets a job that withdraws its other recipients. Runs inside the transaction that
 * changed the messages.
 */
export async function recordProgress(
  { campaigns, recipients, jobs }: Pick<Stores, 'campaigns' | 'recipients' | 'jobs'>,
  { changes, stopReasons, now }: Progress,
): Promise<void> {
  const relevant = changes.filter(isRelevant);
  if (relevant.length === 0) return;
  const byCampaign = new Map<string, RecipientChange[]>();
  const saved = relevant.map(({ before, after }) => {
    const progress = progressOf(after, now);
    const change = { before: progressOf(before, now), after: progress, cost: after.cost };
    const campaignId = after.campaignId as string;
    const others = byCampaign.get(campaignId);
    if (others === undefined) byCampaign.set(campaignId, [change]);
    else others.push(change);
    return { id: recipientIdOf(after.smsId), progress };
  });
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
    recipients.saveProgress(saved),
    campaigns.save(after),
    jobs.add(
      stopped.map((campaign) => stopCampaignJob(campaign, now)),
      now,
    ),
  ]);
}

/** Whether a recipient is something else than before. */
function isRelevant({ before, after }: MessageChange): boolean {
  return after.campaignId !== null && (after.status !== before.status || after.isFinal !== before.isFinal);
}

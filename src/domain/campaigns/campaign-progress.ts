import { add, type Money, subtract } from '../shared/money.ts';
import type { Campaign } from './campaign.ts';
import type { RecipientProgress, RecipientStatus } from './recipient.ts';

/** The change of one recipient; the cost is what was reserved for it. */
export interface RecipientChange {
  readonly before: Pick<RecipientProgress, 'status' | 'finalCost'>;
  readonly after: Pick<RecipientProgress, 'status' | 'finalCost'>;
  readonly cost: Money;
}

const ALL_FAILED_REASON = 'Every recipient failed';

const SENT: ReadonlySet<RecipientStatus> = new Set<RecipientStatus>(['sent', 'delivered', 'read']);
const DELIVERED: ReadonlySet<RecipientStatus> = new Set<RecipientStatus>(['delivered', 'read']);
const FAILED: ReadonlySet<RecipientStatus> = new Set<RecipientStatus>(['failed']);

/** What happened to the recipients of one campaign. */
export interface CampaignChanges {
  readonly recipients: readonly RecipientChange[];
  /** Why the campaign cannot go on; null when it can. */
  readonly stopReason: string | null;
}

/**
 * A campaign after some of its recipients changed: counts and money follow the recipients. It ends once none of them is
 * queued: `failed` when every one of them failed, else `completed`. One that cannot go on is `failed` at once. Nothing
 * leaves these two.
 */
export function advanceCampaign(
  campaign: Campaign,
  { recipients: changes, stopReason }: CampaignChanges,
  now: number,
): Campaign {
  const sentCount = campaign.sentCount + growth(changes, SENT);
  const failedCount = campaign.failedCount + growth(changes, FAILED);
  const counted: Campaign = {
    ...campaign,
    sentCount,
    deliveredCount: campaign.deliveredCount + growth(changes, DELIVERED),
    failedCount,
    ...settled(campaign, changes),
    updatedAt: now,
  };
  if (campaign.status === 'running' && stopReason !== null) {
    return { ...counted, status: 'failed', failureReason: stopReason, completedAt: now };
  }
  if (campaign.status !== 'running' || sentCount + failedCount < campaign.totalRecipients) return counted;
  return failedCount === campaign.totalRecipients
    ? { ...counted, status: 'failed', failureReason: ALL_FAILED_REASON, completedAt: now }
    : { ...counted, status: 'completed', completedAt: now };
}

/** How many more recipients have one of the statuses. */
function growth(changes: readonly RecipientChange[], statuses: ReadonlySet<RecipientStatus>): number {
  const has = (status: RecipientStatus) => (statuses.has(status) ? 1 : 0);
  return changes.reduce((sum, { before, after }) => sum + has(after.status) - has(before.status), 0);
}

/** Of a recipient that is settled now, its final cost is captured and the rest of its hold released. */
function settled(
  campaign: Campaign,
  changes: readonly RecipientChange[],
): Pick<Campaign, 'captured' | 'released'> {
  let { captured, released } = campaign;
  for (const { before, after, cost } of changes) {
    if (before.finalCost !== null || after.finalCost === null) continue;
    captured = add(captured, after.finalCost);
    released = add(released, subtract(cost, after.finalCost));
  }
  return { captured, released };
}

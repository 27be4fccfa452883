import { auditedRestore } from '../../domain/audit/audited.ts';
import { replanned } from '../../domain/campaigns/campaign.ts';
import { newChange, recordChange } from '../audit/record-change.ts';
import { startCampaignJobId } from '../jobs/campaign-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { RESTORE_POINT, RESTORED_AHEAD } from './restore-point.ts';

/** What the mark changed. */
export interface MarkedRestored {
  /** Messages up to this instant start no attempt any more; never later than the mark, null when there is no message. */
  readonly restorePoint: number | null;
  /** How many messages that are not final are dated later than the mark. They start no attempt either. */
  readonly messagesDatedLater: number;
  /** The campaigns that were scheduled, and are drafts now. */
  readonly unscheduledCampaigns: readonly string[];
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * Marks a database that was restored from a backup, before a process works on it. What it holds was sent since, as far as
 * anybody knows: none of its messages starts another attempt, and no campaign of it starts by itself.
 */
export class MarkRestored {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** One transaction with its audit record. May be repeated: a later mark covers the messages that came since. */
  execute(): Promise<MarkedRestored> {
    const change = newChange(this.#ports, 'cli-database');
    const now = change.at;
    return this.#ports.unitOfWork.run(async ({ messages, campaigns, jobs, installation, auditLog }) => {
      const newestAt = await messages.newestAt();
      // A message that a clock dated later must not stop what is sent from now on.
      const restorePoint = newestAt === null ? null : Math.min(newestAt, now);
      const ahead = await messages.openSince(now);
      if (restorePoint !== null) await installation.set(RESTORE_POINT, String(restorePoint));
      await installation.set(RESTORED_AHEAD, ahead.join(','));
      const scheduled = await campaigns.lockScheduled();
      const drafts = scheduled.map((campaign) =>
        replanned(campaign, { ...campaign, scheduledFor: null }, now),
      );
      await campaigns.save(drafts);
      const ids = drafts.map(({ id }) => id);
      await jobs.remove(ids.map(startCampaignJobId));
      const marked = { restorePoint, messagesDatedLater: ahead.length, unscheduledCampaigns: ids };
      const after = auditedRestore(marked);
      await recordChange({ auditLog }, change, 'database-restored', null, { before: null, after });
      return marked;
    });
  }
}

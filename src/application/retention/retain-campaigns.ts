import { keptSince } from '../../domain/access/retention.ts';
import { isRetentionOver } from '../../domain/retention/retained-message.ts';
import { anonymisedRecipient } from '../../domain/retention/retained-recipient.ts';
import type { Clock } from '../ports/clock.ts';
import type { AgedRow } from '../ports/stores/retention-stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { currentRetention } from './current-retention.ts';
import type { Slices } from './slices.ts';

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/** Where a run is: the campaign that it has begun, and those before it. */
interface CampaignPlace {
  /** The last campaign that needs nothing more; null before the first. */
  readonly after: AgedRow | null;
  /** Of this campaign the recipients before `position` are done. */
  readonly campaignId: string | null;
  readonly position: number;
}

const FIRST_PLACE: CampaignPlace = { after: null, campaignId: null, position: 0 };

/**
 * Takes the numbers and parameters out of the recipients of old campaigns, whatever the action of the project: the recipients
 * themselves stay, because the sums of the campaign are theirs. A crash in between begins its campaign anew.
 */
export class RetainCampaigns {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Treats what is due by the setting that the project has by now. Resolves with how many recipients were anonymised. */
  async execute(projectId: string, slices: Slices): Promise<number> {
    let recipients = 0;
    let place = FIRST_PLACE;
    await slices.each(async (rows) => {
      const slice = await this.#next(projectId, place, rows);
      if (slice === null) return false;
      recipients += slice.recipients;
      place = slice.place;
      return true;
    });
    return recipients;
  }

  /** Null when nothing more is due. */
  #next(projectId: string, { after, campaignId, position }: CampaignPlace, rows: number) {
    const { unitOfWork, clock } = this.#ports;
    return unitOfWork.run(async (stores) => {
      const retention = await currentRetention(stores, projectId);
      if (retention === null) return null;
      const now = clock.now();
      const before = keptSince(retention, now);
      const [campaign] = await stores.retention.endedCampaigns({ projectId, before, after, limit: 1 });
      if (campaign === undefined || campaign.completedAt === null) return null;
      const { id } = campaign;
      const behind = { ...FIRST_PLACE, after: { createdAt: campaign.completedAt, id } };
      if (!isRetentionOver(campaign, retention, now)) return { recipients: 0, place: behind };
      const from = id === campaignId ? position : 0;
      const recipients = await stores.retention.recipientsAt(id, from, from + rows);
      await stores.retention.anonymiseRecipients(recipients.map(anonymisedRecipient));
      const isComplete = recipients.length === 0 && from >= campaign.totalRecipients;
      if (isComplete) await stores.retention.noteErased([id], now);
      return {
        recipients: recipients.length,
        // The next search begins at this campaign, and not at all that were treated long ago.
        place: isComplete
          ? behind
          : {
              after: after ?? { createdAt: campaign.completedAt - 1, id: '' },
              campaignId: id,
              position: from + rows,
            },
      };
    }, 'eventual');
  }
}

import { keptSince, type Retention } from '../../domain/access/retention.ts';
import { isDue } from '../../domain/retention/retained-message.ts';
import { anonymisedRecipient } from '../../domain/retention/retained-recipient.ts';
import type { Clock } from '../ports/clock.ts';
import type { AgedQuery, AgedRow } from '../ports/retention-stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { Slices } from './slices.ts';

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/**
 * Takes the numbers and parameters out of the recipients of old campaigns, whatever the action of the project: the recipients
 * themselves stay, because the sums of the campaign are theirs. A crash in between begins its campaign anew.
 */
export class RetainCampaigns {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Resolves with the number of recipients that were anonymised. */
  async execute(projectId: string, retention: Retention, slices: Slices): Promise<number> {
    const { unitOfWork, clock } = this.#ports;
    let recipients = 0;
    for (let after: AgedRow | null = null; ; ) {
      const before = keptSince(retention, clock.now());
      const query: AgedQuery = { projectId, before, after, limit: 1 };
      const [campaign] = await unitOfWork.read((stores) => stores.retention.endedCampaigns(query));
      if (campaign === undefined || campaign.completedAt === null) return recipients;
      after = { createdAt: campaign.completedAt, id: campaign.id };
      if (!isDue(campaign, retention, clock.now())) continue;
      let from = 0;
      let isComplete = false;
      await slices.each(async (rows) => {
        const anonymised = await this.#anonymise(campaign.id, from, from + rows);
        recipients += anonymised;
        from += rows;
        isComplete = from >= campaign.totalRecipients && anonymised === 0;
        return !isComplete;
      });
      if (!isComplete) return recipients;
      await unitOfWork.run((stores) => stores.retention.noteErased([campaign.id], clock.now()), 'eventual');
    }
  }

  #anonymise(campaignId: string, from: number, to: number): Promise<number> {
    return this.#ports.unitOfWork.run(async ({ retention }) => {
      const recipients = await retention.recipientsAt(campaignId, from, to);
      await retention.anonymiseRecipients(recipients.map(anonymisedRecipient));
      return recipients.length;
    }, 'eventual');
  }
}

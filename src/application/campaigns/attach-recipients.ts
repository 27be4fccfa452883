import { attachRecipients } from '../../domain/campaigns/attach-recipients.ts';
import type { Campaign } from '../../domain/campaigns/campaign.ts';
import { findTemplate } from '../../domain/campaigns/campaign-sender.ts';
import { type NewRecipient, newRecipient } from '../../domain/campaigns/recipient.ts';
import { recipientPrice } from '../../domain/campaigns/start-campaign.ts';
import { add, times } from '../../domain/shared/money.ts';
import type { CurrentPrices } from '../catalog/current-prices.ts';
import { IdempotencyRecords } from '../idempotency.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { RequestHasher } from '../ports/request-hasher.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { Rejected } from '../rejected.ts';
import { businessesOf, type KeyedCampaignCommand, lockCampaign } from './campaign-command.ts';

interface AttachPorts {
  readonly unitOfWork: UnitOfWork;
  readonly currentPrices: CurrentPrices;
  readonly requestHasher: RequestHasher;
  readonly clock: Clock;
  readonly ids: IdSource;
}

export interface AttachResult {
  readonly campaign: Campaign;
  readonly addedCount: number;
  /** Numbers that were on the campaign already. */
  readonly skippedCount: number;
  /** Numbers that came more than once in the request. */
  readonly duplicateCount: number;
  readonly replayed: boolean;
}

/** Specification 4.16: appends recipients to a campaign that has not started. */
export class AttachRecipients {
  readonly #ports: AttachPorts;

  constructor(ports: AttachPorts) {
    this.#ports = ports;
  }

  /** All of them or none: throws `Rejected` when one is not acceptable. */
  async execute(command: KeyedCampaignCommand, given: readonly NewRecipient[]): Promise<AttachResult> {
    const { unitOfWork, currentPrices, requestHasher, clock, ids } = this.#ports;
    const { project } = command;
    const keyed = { projectId: project.id, request: command.idempotency };
    const prices = await currentPrices.read();
    return unitOfWork.run(async (stores) => {
      const now = clock.now();
      const campaign = await lockCampaign(stores, command);
      const records = await IdempotencyRecords.find<AttachResult>(
        { store: stores.idempotency, requestHasher },
        [keyed],
        now,
      );
      const earlier = records.decide(keyed);
      if (earlier.kind === 'replay') return { ...earlier.result, replayed: true };
      if (earlier.kind !== 'first') throw new Rejected(earlier);
      const template = findTemplate(await businessesOf(stores, project), campaign.templateId);
      if (template === null) throw new Rejected({ kind: 'campaign-template-not-found' });
      const attached = new Set(await stores.recipients.numbersOf(campaign.id));
      const decision = attachRecipients(
        {
          campaign,
          attached,
          environment: project.environment,
          prices,
          template,
        },
        given,
      );
      if (decision.kind !== 'attached') throw new Rejected(decision);
      const { added, skippedCount, duplicateCount } = decision;
      const cost = recipientPrice(prices, campaign);
      const changed: Campaign = {
        ...campaign,
        totalRecipients: campaign.totalRecipients + added.length,
        estimatedCost: add(campaign.estimatedCost, times(cost, added.length)),
        updatedAt: now,
      };
      const recipients = added.map((each, index) =>
        newRecipient(each, {
          id: ids.hex24(now),
          campaignId: campaign.id,
          position: campaign.totalRecipients + index,
          estimatedCost: cost,
        }),
      );
      const result: AttachResult = {
        campaign: changed,
        addedCount: added.length,
        skippedCount,
        duplicateCount,
        replayed: false,
      };
      records.add(keyed, result);
      await Promise.all([
        stores.recipients.insert(recipients),
        stores.campaigns.save([changed]),
        records.store(stores.idempotency),
      ]);
      return result;
    });
  }
}

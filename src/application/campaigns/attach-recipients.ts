import type { Project } from '../../domain/access/project.ts';
import type { PriceList } from '../../domain/billing/pricing.ts';
import { attachRecipients, joinCampaign } from '../../domain/campaigns/attach-recipients.ts';
import {
  type Campaign,
  failedStartsCountedAfter,
  UNSTARTED_RECIPIENTS_MAX,
} from '../../domain/campaigns/campaign.ts';
import type { NewRecipient } from '../../domain/campaigns/recipient.ts';
import { recipientPrice } from '../../domain/campaigns/start-campaign.ts';
import type { CurrentPrices } from '../catalog/current-prices.ts';
import { Rejected } from '../errors/rejected.ts';
import { runKeyed } from '../idempotency.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { RequestHasher } from '../ports/request-hasher.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { KeyedCampaignCommand } from './campaign-command.ts';
import { campaignOrRejected, lockCampaignIfAny, readTemplate } from './stored-campaign.ts';

interface AttachPorts {
  readonly unitOfWork: UnitOfWork;
  readonly currentPrices: Pick<CurrentPrices, 'at'>;
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

/** What one request works on. */
interface Attaching {
  readonly stores: Stores;
  readonly project: Project;
  readonly campaign: Campaign;
  readonly prices: PriceList;
  readonly now: number;
}

/** Specification 4.16: appends recipients to a campaign that has not started. */
export class AttachRecipients {
  readonly #ports: AttachPorts;

  constructor(ports: AttachPorts) {
    this.#ports = ports;
  }

  /** All of them or none: throws `Rejected` when one is not acceptable. */
  async execute(command: KeyedCampaignCommand, given: readonly NewRecipient[]): Promise<AttachResult> {
    const { unitOfWork, currentPrices, requestHasher, clock } = this.#ports;
    const { project, idempotency } = command;
    return unitOfWork.run(
      async (stores) => {
        const now = clock.now();
        const prices = await currentPrices.at(stores, now);
        const campaign = await lockCampaignIfAny(stores, command);
        const keyed = { projectId: project.id, request: idempotency };
        // Also when the campaign was deleted after the first request.
        return runKeyed({ store: stores.idempotency, requestHasher }, keyed, now, () =>
          this.#attach({ stores, project, campaign: campaignOrRejected(campaign), prices, now }, given),
        );
      },
      'full',
      'brief',
    );
  }

  async #attach(
    { stores, project, campaign, prices, now }: Attaching,
    given: readonly NewRecipient[],
  ): Promise<AttachResult> {
    const { ids } = this.#ports;
    const template = await readTemplate(stores, project, campaign.templateId);
    const attached = await stores.recipients.attachedTo(campaign.id);
    const { environment } = project;
    const decision = attachRecipients({ campaign, attached, environment, prices, template }, given);
    if (decision.kind !== 'attached') throw new Rejected(decision);
    const { added, skippedCount, duplicateCount } = decision;
    // Without the lock of the account, so that no code waits for a thousand recipients. Requests to several campaigns at once
    // may together exceed the limit a little: `CampaignGate` lets few of a project work at a time.
    const failedAfter = failedStartsCountedAfter(now);
    const unstarted = await stores.campaigns.countUnstartedRecipients(project.id, failedAfter);
    if (unstarted + added.length > UNSTARTED_RECIPIENTS_MAX)
      throw new Rejected({ kind: 'too-many-unstarted-recipients' });
    const joining = { ids: added.map(() => ids.hex24(now)), cost: recipientPrice(prices, campaign) };
    const joined = joinCampaign(campaign, added, joining, now);
    await Promise.all([
      stores.recipients.insert(joined.recipients),
      stores.campaigns.save([joined.campaign]),
    ]);
    return {
      campaign: joined.campaign,
      addedCount: added.length,
      skippedCount,
      duplicateCount,
      replayed: false,
    };
  }
}

import type { Project } from '../../domain/access/project.ts';
import { parametersRejection } from '../../domain/campaigns/attach-recipients.ts';
import {
  type Campaign,
  failedStartsCountedAfter,
  isEditable,
  newCampaign,
  replanned,
  UNSTARTED_CAMPAIGNS_MAX,
} from '../../domain/campaigns/campaign.ts';
import { type PlanRequest, planCampaign } from '../../domain/campaigns/plan-campaign.ts';
import { recipientPrice } from '../../domain/campaigns/start-campaign.ts';
import { times } from '../../domain/shared/money.ts';
import { findTemplate } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { CurrentPrices } from '../catalog/current-prices.ts';
import { Rejected } from '../errors/rejected.ts';
import { startCampaignJob, startCampaignJobId } from '../jobs/campaign-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { treeOf } from '../whatsapp/tree-of.ts';
import type { CampaignCommand } from './campaign-command.ts';
import { lockCampaign } from './stored-campaign.ts';

interface ManagePorts {
  readonly unitOfWork: UnitOfWork;
  readonly currentPrices: Pick<CurrentPrices, 'at'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
}

/** Specification 4.10, 4.11 and 4.13: creates, updates and deletes campaigns that have not started. */
export class ManageCampaigns {
  readonly #ports: ManagePorts;

  constructor(ports: ManagePorts) {
    this.#ports = ports;
  }

  /**
   * A campaign without recipients. Throws `Rejected` when it cannot be planned so, and when the project has too many
   * that have not started.
   */
  async create(project: Project, request: PlanRequest): Promise<Campaign> {
    const { unitOfWork, clock, ids } = this.#ports;
    const campaign = await unitOfWork.run(
      async (stores) => {
        const now = clock.now();
        // Requests that meet wait here for each other, so that each counts the campaigns of those before it.
        await stores.accounts.lock([project.id]);
        const planned = planCampaign(null, request, await treeOf(stores, project.id), now);
        if (planned.kind !== 'planned') throw new Rejected(planned);
        const failedAfter = failedStartsCountedAfter(now);
        const unstarted = await stores.campaigns.countUnstarted(
          project.id,
          failedAfter,
          UNSTARTED_CAMPAIGNS_MAX,
        );
        if (unstarted === UNSTARTED_CAMPAIGNS_MAX) throw new Rejected({ kind: 'too-many-campaigns' });
        const created = newCampaign(ids.hex24(now), project.id, planned.plan, now);
        await stores.campaigns.insert([created]);
        await schedule(stores, created, now);
        return created;
      },
      'full',
      'brief',
    );
    this.#ports.wakeSignal.wake();
    return campaign;
  }

  /**
   * The campaign after the update. Throws `Rejected` when it is unknown, has started or cannot be planned so, and when the
   * parameters of its recipients do not fit another template.
   */
  async update(command: CampaignCommand, request: PlanRequest): Promise<Campaign> {
    const { unitOfWork, clock, currentPrices } = this.#ports;
    const campaign = await unitOfWork.run(
      async (stores) => {
        const now = clock.now();
        // An operator who removes whatsapp resources waits for the account too. It is locked before campaigns, as in a start.
        await stores.accounts.lock([command.project.id]);
        const current = await lockCampaign(stores, command);
        const businesses = await treeOf(stores, command.project.id);
        const planned = planCampaign(current, request, businesses, now);
        if (planned.kind !== 'planned') throw new Rejected(planned);
        const { plan } = planned;
        const changed = replanned(current, plan, now);
        if (plan.templateId === current.templateId) {
          await stores.campaigns.save([changed]);
          await schedule(stores, changed, now);
          return changed;
        }
        const recipients = await stores.recipients.ofCampaign(current.id);
        const template = findTemplate(businesses, plan.templateId);
        const rejection = template === null ? null : parametersRejection(recipients, template);
        if (rejection !== null) throw new Rejected(rejection);
        const cost = recipientPrice(await currentPrices.at(stores, now), plan);
        const priced = { ...changed, estimatedCost: times(cost, recipients.length) };
        await stores.recipients.saveCosts(current.id, { estimatedCost: cost, billingState: 'pending' });
        await stores.campaigns.save([priced]);
        await schedule(stores, priced, now);
        return priced;
      },
      'full',
      'brief',
    );
    this.#ports.wakeSignal.wake();
    return campaign;
  }

  /** Removes the campaign with its recipients. Throws `Rejected` when it is unknown or has started. */
  async delete(command: CampaignCommand): Promise<void> {
    await this.#ports.unitOfWork.run(
      async (stores) => {
        const campaign = await lockCampaign(stores, command);
        if (!isEditable(campaign)) throw new Rejected({ kind: 'campaign-not-editable' });
        await stores.recipients.removeOfCampaigns([campaign.id]);
        await stores.campaigns.remove([campaign.id]);
        await stores.jobs.remove([startCampaignJobId(campaign.id)]);
      },
      'full',
      'brief',
    );
  }
}

/** The one job of a scheduled campaign, at its time; none for a draft. */
async function schedule({ jobs }: Pick<Stores, 'jobs'>, campaign: Campaign, now: number): Promise<void> {
  await jobs.remove([startCampaignJobId(campaign.id)]);
  if (campaign.scheduledFor !== null)
    await jobs.add([startCampaignJob(campaign, campaign.scheduledFor)], now);
}

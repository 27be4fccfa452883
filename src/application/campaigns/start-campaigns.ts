import type { Project } from '../../domain/access/project.ts';
import type { Account } from '../../domain/billing/account.ts';
import { holdEntry } from '../../domain/billing/ledger.ts';
import type { PriceList } from '../../domain/billing/pricing.ts';
import { attachRecipients } from '../../domain/campaigns/attach-recipients.ts';
import {
  type Campaign,
  failedAtStart,
  isEditable,
  newCampaign,
  sampleNameOf,
} from '../../domain/campaigns/campaign.ts';
import { decideSender } from '../../domain/campaigns/campaign-sender.ts';
import { failureReasonOf } from '../../domain/campaigns/failure-reason.ts';
import { type NewRecipient, newRecipient, type Recipient } from '../../domain/campaigns/recipient.ts';
import { freeSince, messagesPerSecond, nextSlots } from '../../domain/campaigns/sending-rate.ts';
import {
  type CampaignStarted,
  recipientPrice,
  type StartRejection,
  startCampaign,
} from '../../domain/campaigns/start-campaign.ts';
import { times } from '../../domain/shared/money.ts';
import type { CurrentPrices } from '../catalog/current-prices.ts';
import { IdempotencyRecords } from '../idempotency.ts';
import { startAttemptJob } from '../jobs/attempt-jobs.ts';
import { type StartCampaignWork, startCampaignJob } from '../jobs/campaign-jobs.ts';
import type { LeasedJob } from '../jobs/job.ts';
import type { ChannelProviders } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Logger } from '../ports/logger.ts';
import type { RequestHasher } from '../ports/request-hasher.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { Rejected } from '../rejected.ts';
import { StorageLocked } from '../storage-locked.ts';
import {
  businessesOf,
  type CampaignResult,
  type KeyedCampaignCommand,
  lockCampaign,
} from './campaign-command.ts';

interface StartPorts {
  readonly unitOfWork: UnitOfWork;
  readonly currentPrices: CurrentPrices;
  readonly channelProviders: Pick<ChannelProviders, 'channelsFor'>;
  readonly requestHasher: RequestHasher;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
  /** Whether campaigns keep the sending rate and the daily limit of the platform. */
  readonly campaignLimits: boolean;
}

/** What one start works on. */
interface Start {
  readonly stores: Stores;
  readonly project: Project;
  readonly account: Account;
  readonly prices: PriceList;
  readonly now: number;
}

/**
 * Starts campaigns: by hand, as a sample, and at their time. One transaction reserves the cost of all recipients and makes
 * their messages and jobs: after it the campaign is sent like single messages are, at a lower priority.
 */
export class StartCampaigns {
  readonly #ports: StartPorts;

  constructor(ports: StartPorts) {
    this.#ports = ports;
  }

  /** Specification 4.14. Throws `Rejected`, and the campaign stays as it was. */
  byHand(command: KeyedCampaignCommand): Promise<CampaignResult> {
    return this.#keyed(command, async (start) => {
      const campaign = await lockCampaign(start.stores, command);
      if (campaign.status !== 'draft')
        throw new Rejected({ kind: 'campaign-not-draft', status: campaign.status });
      const recipients = await start.stores.recipients.ofCampaign(campaign.id);
      const started = await this.#decide(start, campaign, recipients);
      if (started.kind !== 'started') throw new Rejected(started);
      await Promise.all([
        start.stores.campaigns.save([started.campaign]),
        start.stores.recipients.saveCosts(started.recipients),
      ]);
      return started;
    });
  }

  /** Specification 4.15: a child that is started at once; the parent stays as it is. Throws `Rejected`. */
  sample(command: KeyedCampaignCommand, given: readonly NewRecipient[]): Promise<CampaignResult> {
    return this.#keyed(command, async (start) => {
      const { stores, project, prices, now } = start;
      const parent = await lockCampaign(stores, command);
      if (!isEditable(parent)) throw new Rejected({ kind: 'campaign-not-editable' });
      const child = this.#childOf(parent, now);
      const sender = decideSender(await businessesOf(stores, project), child);
      if (sender.kind !== 'sender') throw new Rejected(sender);
      const { environment } = project;
      const attached = attachRecipients(
        { campaign: child, attached: new Set(), environment, prices, template: sender.template },
        given,
      );
      if (attached.kind !== 'attached') throw new Rejected(attached);
      const cost = recipientPrice(prices, sender);
      const recipients = attached.added.map((each, position) =>
        newRecipient(each, {
          id: this.#ports.ids.hex24(now),
          campaignId: child.id,
          position,
          estimatedCost: cost,
        }),
      );
      const counted = {
        ...child,
        totalRecipients: recipients.length,
        estimatedCost: times(cost, recipients.length),
      };
      const started = await this.#decide(start, counted, recipients);
      if (started.kind !== 'started') throw new Rejected(started);
      await Promise.all([
        stores.campaigns.insert([started.campaign]),
        stores.recipients.insert(started.recipients),
      ]);
      return started;
    });
  }

  /**
   * Starts the scheduled campaigns of these jobs. One that cannot run is `failed` and keeps the reason; one that was
   * deleted, started or planned anew meanwhile is left alone. One whose rows are locked stays leased, and its job comes
   * again when the lease ends.
   */
  async due(jobs: readonly LeasedJob<StartCampaignWork>[]): Promise<void> {
    for (const job of jobs) {
      try {
        await this.#due(job);
      } catch (error) {
        if (!(error instanceof StorageLocked)) throw error;
      }
    }
  }

  async #due(job: LeasedJob<StartCampaignWork>): Promise<void> {
    const { unitOfWork, currentPrices, clock, logger } = this.#ports;
    const { projectId, campaignId } = job.work;
    const prices = await currentPrices.read();
    const failure = await unitOfWork.run(
      async (stores) => {
        const now = clock.now();
        const [[account], [campaign], [project]] = await Promise.all([
          stores.accounts.lock([projectId]),
          stores.campaigns.lock([campaignId]),
          stores.projects.byIds([projectId]),
        ]);
        const [held] = await stores.jobs.complete([job]);
        if (held === undefined || account === undefined || project === undefined) return null;
        if (campaign?.status !== 'scheduled' || campaign.scheduledFor === null) return null;
        if (campaign.scheduledFor > now) {
          // Another process found it due by a clock that is ahead.
          await stores.jobs.add([startCampaignJob(campaign, campaign.scheduledFor)], now);
          return null;
        }
        const recipients = await stores.recipients.ofCampaign(campaignId);
        const started = await this.#decide({ stores, project, account, prices, now }, campaign, recipients);
        if (started.kind !== 'started') {
          const reason = failureReasonOf(started);
          await stores.campaigns.save([failedAtStart(campaign, reason, now)]);
          return reason;
        }
        await Promise.all([
          stores.campaigns.save([started.campaign]),
          stores.recipients.saveCosts(started.recipients),
          this.#write(stores, started, now),
        ]);
        return null;
      },
      'full',
      'brief',
    );
    if (failure !== null) logger.warn('campaign_not_started', { projectId, campaignId, reason: failure });
  }

  /** Runs a start in one transaction, behind the lock of the account. Equal requests wait there for each other. */
  async #keyed(
    { project, idempotency }: KeyedCampaignCommand,
    start: (start: Start) => Promise<CampaignStarted>,
  ): Promise<CampaignResult> {
    const { unitOfWork, currentPrices, requestHasher, clock, wakeSignal } = this.#ports;
    const keyed = { projectId: project.id, request: idempotency };
    const prices = await currentPrices.read();
    const result = await unitOfWork.run(async (stores): Promise<CampaignResult> => {
      const now = clock.now();
      const [account] = await stores.accounts.lock([project.id]);
      if (account === undefined) throw new Error(`Project ${project.id} has no account`);
      const records = await IdempotencyRecords.find<CampaignResult>(
        { store: stores.idempotency, requestHasher },
        [keyed],
        now,
      );
      const earlier = records.decide(keyed);
      if (earlier.kind === 'replay') return { ...earlier.result, replayed: true };
      if (earlier.kind !== 'first') throw new Rejected(earlier);
      const started = await start({ stores, project, account, prices, now });
      const outcome: CampaignResult = { campaign: started.campaign, replayed: false };
      records.add(keyed, outcome);
      await Promise.all([this.#write(stores, started, now), records.store(stores.idempotency)]);
      return outcome;
    });
    wakeSignal.wake();
    return result;
  }

  async #decide(
    { stores, project, account, prices, now }: Start,
    campaign: Campaign,
    recipients: readonly Recipient[],
  ): Promise<CampaignStarted | StartRejection> {
    const { channelProviders } = this.#ports;
    return startCampaign(
      {
        project,
        account,
        campaign,
        recipients,
        prices,
        businesses: await businessesOf(stores, project),
        availableChannels: channelProviders.channelsFor(project.environment),
      },
      now,
    );
  }

  /** The holds, the messages and the first job of each, at the rate of the number they are sent from. */
  async #write(stores: Stores, { messages, sender }: CampaignStarted, now: number): Promise<void> {
    const { phoneNumber } = sender;
    const perSecond = this.#ports.campaignLimits ? messagesPerSecond(phoneNumber) : null;
    const freeAt = perSecond === null ? now : freeSince(await stores.sendingSlots.lock(phoneNumber.id), now);
    const slots = nextSlots(freeAt, perSecond, messages.length, now);
    await Promise.all([
      stores.messages.insert(messages),
      stores.ledger.post(
        messages.map(({ smsId, projectId, cost }) =>
          holdEntry({ projectId, reference: smsId, at: now }, cost),
        ),
      ),
      stores.jobs.add(
        messages.map((message, index) => startAttemptJob(message, 0, slots.startsAt[index] ?? now)),
        now,
      ),
      perSecond === null
        ? null
        : stores.sendingSlots.save(phoneNumber.id, { freeAt: slots.freeAt, savedAt: now }),
    ]);
  }

  #childOf(parent: Campaign, now: number): Campaign {
    const { templateId, phoneNumberId, category } = parent;
    const name = sampleNameOf(parent);
    const plan = { name, templateId, phoneNumberId, category, scheduledFor: null };
    const child = newCampaign(this.#ports.ids.hex24(now), parent.projectId, plan, now);
    return { ...child, sampleOf: parent.id };
  }
}

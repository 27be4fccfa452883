import type { Project } from '../../domain/access/project.ts';
import type { Account } from '../../domain/billing/account.ts';
import { holdEntry } from '../../domain/billing/ledger.ts';
import { type LowCreditNotice, lowCreditNotice } from '../../domain/billing/low-credit.ts';
import type { PriceList } from '../../domain/billing/pricing.ts';
import { failedAtStart } from '../../domain/campaigns/campaign.ts';
import { failureReasonOf } from '../../domain/campaigns/failure-reason.ts';
import { limitKey } from '../../domain/campaigns/limit-key.ts';
import type { NewRecipient } from '../../domain/campaigns/recipient.ts';
import { sampleCampaign } from '../../domain/campaigns/sample-campaign.ts';
import { freeSince, messagesPerSecond, nextSlots } from '../../domain/campaigns/sending-rate.ts';
import {
  type CampaignStarted,
  type StartState,
  startCampaign,
} from '../../domain/campaigns/start-campaign.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';
import { lockedAccount } from '../billing/account-of.ts';
import type { NoticeLowCredit } from '../billing/notice-low-credit.ts';
import type { CurrentPrices } from '../catalog/current-prices.ts';
import { Rejected } from '../errors/rejected.ts';
import { runKeyed } from '../idempotency.ts';
import { startAttemptJob } from '../jobs/attempt-jobs.ts';
import { type StartCampaignWork, startCampaignJob } from '../jobs/campaign-jobs.ts';
import { MinuteLog } from '../minute-log.ts';
import type { ChannelProviders } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Logger } from '../ports/logger.ts';
import type { RequestHasher } from '../ports/request-hasher.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { treeOf } from '../whatsapp/tree-of.ts';
import type { CampaignResult, KeyedCampaignCommand } from './campaign-command.ts';
import { lockCampaign } from './stored-campaign.ts';

interface StartPorts {
  readonly unitOfWork: UnitOfWork;
  readonly currentPrices: Pick<CurrentPrices, 'at'>;
  readonly channelProviders: Pick<ChannelProviders, 'channelsFor'>;
  readonly requestHasher: RequestHasher;
  readonly noticeLowCredit: Pick<NoticeLowCredit, 'write' | 'announce'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
  /** Whether campaigns keep the sending rate and the daily limit of the platform. */
  readonly keepsPlatformLimits: boolean;
}

/** What one start works on. */
interface Start {
  readonly stores: Stores;
  readonly project: Project;
  readonly account: Account;
  readonly prices: PriceList;
  readonly now: number;
}

/** What came of a scheduled campaign: why it failed, or null; and whether the credit became low. */
interface DueResult {
  readonly reason: string | null;
  readonly notices: readonly LowCreditNotice[];
}

const NOTHING: DueResult = { reason: null, notices: [] };

/**
 * Starts campaigns: by hand, as a sample, and at their time. One transaction reserves the cost of all recipients and makes
 * their messages and jobs: after it the campaign is sent like single messages are, at a lower priority.
 */
export class StartCampaigns {
  readonly #ports: StartPorts;
  readonly #log: MinuteLog;

  constructor(ports: StartPorts) {
    this.#ports = ports;
    this.#log = new MinuteLog(ports);
  }

  /** Specification 4.14. Throws `Rejected`, and the campaign stays as it was. */
  byHand(command: KeyedCampaignCommand): Promise<CampaignResult> {
    return this.#keyed(command, async (start) => {
      const campaign = await lockCampaign(start.stores, command);
      if (campaign.status !== 'draft')
        throw new Rejected({ kind: 'campaign-not-draft', status: campaign.status });
      const recipients = await start.stores.recipients.ofCampaign(campaign.id);
      const started = startCampaign({ ...(await this.#stateOf(start)), campaign, recipients }, start.now);
      if (started.kind !== 'started') throw new Rejected(started);
      await Promise.all([
        start.stores.campaigns.save([started.campaign]),
        start.stores.recipients.saveCosts(campaign.id, started.costs),
      ]);
      return started;
    });
  }

  /** Specification 4.15: a child that is started at once; the parent stays as it is. Throws `Rejected`. */
  sample(command: KeyedCampaignCommand, given: readonly NewRecipient[]): Promise<CampaignResult> {
    return this.#keyed(command, async (start) => {
      const { stores, now } = start;
      const { ids } = this.#ports;
      const parent = await lockCampaign(stores, command);
      const state = { ...(await this.#stateOf(start)), parent };
      const newIds = { campaign: ids.hex24(now), recipients: given.map(() => ids.hex24(now)) };
      const started = sampleCampaign(state, given, newIds, now);
      if (started.kind !== 'started') throw new Rejected(started);
      await Promise.all([
        stores.campaigns.insert([started.campaign]),
        stores.recipients.insert(started.recipients),
      ]);
      return started;
    });
  }

  /**
   * Starts the scheduled campaign of the job. One that cannot run is `failed` and keeps the reason; one that was deleted, started
   * or planned anew meanwhile is left alone. Rejects with `StorageLocked` when a row is locked, and nothing has happened.
   */
  async due(job: LeasedJob<StartCampaignWork>): Promise<void> {
    const { reason, notices } = await this.#due(job);
    this.#ports.noticeLowCredit.announce(notices);
    const { projectId, campaignId } = job.work;
    // Each campaign keeps its own reason.
    if (reason !== null) this.#log.warn('campaign_not_started', { projectId, campaignId, reason });
  }

  async #due(job: LeasedJob<StartCampaignWork>): Promise<DueResult> {
    const { unitOfWork, currentPrices, clock } = this.#ports;
    const { projectId, campaignId } = job.work;
    return unitOfWork.run(
      async (stores) => {
        const now = clock.now();
        // Before the locks: a new list of many rows takes a while.
        const prices = await currentPrices.at(stores, now);
        const [[account], [campaign], [project]] = await Promise.all([
          stores.accounts.lock([projectId]),
          stores.campaigns.lock([campaignId]),
          stores.projects.byIds([projectId]),
        ]);
        const [held] = await stores.jobs.complete([job]);
        if (held === undefined || account === undefined || project === undefined) return NOTHING;
        if (campaign?.status !== 'scheduled' || campaign.scheduledFor === null) return NOTHING;
        if (campaign.scheduledFor > now) {
          // Another process found it due by a clock that is ahead.
          await stores.jobs.add([startCampaignJob(campaign, campaign.scheduledFor)], now);
          return NOTHING;
        }
        const recipients = await stores.recipients.ofCampaign(campaignId);
        const start = { stores, project, account, prices, now };
        const state = await this.#stateOf(start);
        const started =
          project.archivedAt === null
            ? startCampaign({ ...state, campaign, recipients }, now)
            : ({ kind: 'project-archived' } as const);
        if (started.kind !== 'started') {
          const reason = failureReasonOf(started);
          await stores.campaigns.save([failedAtStart(campaign, reason, now)]);
          return { reason, notices: [] };
        }
        await Promise.all([
          stores.campaigns.save([started.campaign]),
          stores.recipients.saveCosts(campaignId, started.costs),
        ]);
        return { reason: null, notices: await this.#write(start, started) };
      },
      'full',
      'brief',
    );
  }

  /** Runs a start in one transaction, behind the lock of the account. Equal requests wait there for each other. */
  async #keyed(
    { project, idempotency }: KeyedCampaignCommand,
    start: (start: Start) => Promise<CampaignStarted>,
  ): Promise<CampaignResult> {
    const { unitOfWork, currentPrices, requestHasher, clock, wakeSignal, noticeLowCredit } = this.#ports;
    const keyed = { projectId: project.id, request: idempotency };
    const { result, notices } = await unitOfWork.run(
      async (stores) => {
        let notices: readonly LowCreditNotice[] = [];
        const now = clock.now();
        const prices = await currentPrices.at(stores, now);
        const account = await lockedAccount(stores, project.id);
        const starting = { stores, project, account, prices, now };
        const result = await runKeyed({ store: stores.idempotency, requestHasher }, keyed, now, async () => {
          const started = await start(starting);
          notices = await this.#write(starting, started);
          return { campaign: started.campaign, replayed: false };
        });
        return { result, notices };
      },
      'full',
      'brief',
    );
    noticeLowCredit.announce(notices);
    wakeSignal.wake();
    return result;
  }

  /** What a start reads beside its campaign. */
  async #stateOf({
    stores,
    project,
    account,
    prices,
  }: Start): Promise<Omit<StartState, 'campaign' | 'recipients'>> {
    const businesses = await treeOf(stores, project.id);
    const availableChannels = this.#ports.channelProviders.channelsFor(project.environment);
    return { project, account, prices, businesses, availableChannels };
  }

  /**
   * The holds, the messages and the first job of each, at the rate of the number they are sent from. Resolves with the notice to
   * announce after the commit, when the holds made the credit low.
   */
  async #write(
    { stores, project, account, now }: Start,
    { messages, sender, account: after }: CampaignStarted,
  ): Promise<readonly LowCreditNotice[]> {
    const { phoneNumber } = sender;
    const numberKey = limitKey(project, phoneNumber.id);
    const perSecond = this.#ports.keepsPlatformLimits ? messagesPerSecond(phoneNumber) : null;
    const freeAt = perSecond === null ? now : freeSince(await stores.sendingSlots.lock(numberKey), now);
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
      perSecond === null ? null : stores.sendingSlots.save(numberKey, { freeAt: slots.freeAt, savedAt: now }),
    ]);
    const notice = lowCreditNotice(project, account, after, now);
    if (notice === null) return [];
    await this.#ports.noticeLowCredit.write(stores, [notice]);
    return [notice];
  }
}

import type { AttachedRecipients } from '../../../domain/campaigns/attach-recipients.ts';
import type { Campaign, CampaignStatus } from '../../../domain/campaigns/campaign.ts';
import type { CampaignSums } from '../../../domain/campaigns/campaign-sums.ts';
import type {
  Recipient,
  RecipientCosts,
  RecipientProgress,
  RecipientStatus,
} from '../../../domain/campaigns/recipient.ts';
import type { TakenSlots } from '../../../domain/campaigns/sending-rate.ts';
import type { Page } from '../../../domain/shared/page.ts';
import type { PhoneNumber } from '../../../domain/shared/phone-number.ts';

export interface CampaignStore {
  /** Fails the unit on an id that exists. */
  insert(campaigns: readonly Campaign[]): Promise<void>;
  /** The campaigns that exist, in the order of their ids, locked until the transaction ends. */
  lock(ids: readonly string[]): Promise<readonly Campaign[]>;
  /** A project's campaign, locked until the transaction ends. Null, and locks nothing, when it is unknown or another's. */
  lockOf(projectId: string, id: string): Promise<Campaign | null>;
  /** Every campaign that starts by itself at its time, in the order of their ids, locked until the transaction ends. */
  lockScheduled(): Promise<readonly Campaign[]>;
  /** Writes everything but id, project, parent and time of creation. */
  save(campaigns: readonly Campaign[]): Promise<void>;
  /** Ids that do not exist are fine. The recipients are removed by themselves. */
  remove(ids: readonly string[]): Promise<void>;
  /** A project's campaign, or null when it is unknown or another's. */
  find(projectId: string, id: string): Promise<Campaign | null>;
  /** One page of a project's campaigns, the newest first, and how many match; a null status lists all. */
  list(
    projectId: string,
    filter: { readonly status: CampaignStatus | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly campaigns: readonly Campaign[] }>;
  /** The templates and numbers, by our ids, of a project's campaigns that have not ended; each pair once. */
  sendersOfOpen(projectId: string): Promise<readonly Pick<Campaign, 'templateId' | 'whatsappPhoneId'>[]>;
  /**
   * How many campaigns of a project have not started, with those that failed to after `failedAfter`; the count ends at `max`.
   */
  countUnstarted(projectId: string, failedAfter: number, max: number): Promise<number>;
  /** How many recipients these campaigns have together. */
  countUnstartedRecipients(projectId: string, failedAfter: number): Promise<number>;
  /** The sums of every campaign, and those that its recipients and their ledger entries make. */
  audit(): Promise<
    readonly {
      readonly id: string;
      readonly campaign: CampaignSums;
      readonly recipients: CampaignSums;
    }[]
  >;
  /** The newest `limit` sample campaigns of a project's campaign, the newest first. */
  samplesOf(projectId: string, id: string, limit: number): Promise<readonly Campaign[]>;
}

/** The progress of one recipient. */
export interface SavedProgress {
  readonly id: string;
  readonly progress: RecipientProgress;
}

export interface RecipientStore {
  /** Fails the unit on an id, a position or a number that the campaign has. */
  insert(recipients: readonly Recipient[]): Promise<void>;
  /** All recipients of a campaign in the order of their positions. */
  ofCampaign(campaignId: string): Promise<readonly Recipient[]>;
  /** Who is on a campaign, without the values for the template. */
  attachedTo(campaignId: string): Promise<AttachedRecipients>;
  /** Writes what is estimated for each recipient of a campaign that has not started, and the state of their billing. */
  saveCosts(campaignId: string, costs: RecipientCosts): Promise<void>;
  /** Writes what their messages have changed about recipients. */
  saveProgress(saved: readonly SavedProgress[]): Promise<void>;
  /** Removes all recipients of the campaigns. */
  removeOfCampaigns(campaignIds: readonly string[]): Promise<void>;
  /**
   * One page of a campaign's recipients by position, and how many match; `search` is a part of the number in digits. It
   * finds no number that was erased.
   */
  list(
    campaignId: string,
    filter: { readonly status: RecipientStatus | null; readonly search: string | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly recipients: readonly Recipient[] }>;
}

/** Until when the slots of whatsapp numbers are taken. A number has its `limitKey`. */
export interface SendingSlotStore {
  /** `NO_SLOTS` for a number without any, which has some from then on; locked until the transaction ends. */
  lock(numberKey: string): Promise<TakenSlots>;
  save(numberKey: string, taken: TakenSlots): Promise<void>;
  /** The same without a lock. */
  find(numberKey: string): Promise<TakenSlots>;
}

/** A customer wrote to a whatsapp number, which is one of our ids. */
export interface CustomerWrote {
  readonly whatsappPhoneId: string;
  readonly phoneNumber: PhoneNumber;
  readonly at: number;
}

/** The conversations that portfolios have opened, and when customers wrote. A portfolio has its `limitKey`. */
export interface ConversationStore {
  /** Others who lock the same portfolio wait until the transaction ends. */
  lock(portfolioKey: string): Promise<void>;
  /**
   * Removes the conversations that were opened at `until` or before: they have ended. And those that a clock has noted
   * that ran ahead, after `latest`.
   */
  sweep(portfolioKey: string, until: number, latest: number): Promise<void>;
  /** How many conversations were opened after `since`. Quick when those before have been swept. */
  count(portfolioKey: string, since: number): Promise<number>;
  /** With which of the numbers one was opened after `since`. */
  openAmong(
    portfolioKey: string,
    numbers: readonly PhoneNumber[],
    since: number,
  ): Promise<readonly PhoneNumber[]>;
  /** When the oldest conversations were opened, the oldest first. */
  oldest(portfolioKey: string, limit: number): Promise<readonly number[]>;
  /** Fails the unit on a number that has a conversation. */
  open(portfolioKey: string, numbers: readonly PhoneNumber[], at: number): Promise<void>;
  /** Of one number and customer the latest instant is kept; the given ones are distinct. */
  noteWritten(written: readonly CustomerWrote[]): Promise<void>;
  /** Which of the numbers wrote after `since`. */
  writtenAmong(
    whatsappPhoneId: string,
    numbers: readonly PhoneNumber[],
    since: number,
  ): Promise<readonly PhoneNumber[]>;
  /** Removes up to `limit` of those who wrote at `until` or before, the oldest first. */
  sweepWritten(until: number, limit: number): Promise<void>;
}

import type { RetentionAction } from '../../../domain/access/retention.ts';
import type { Campaign } from '../../../domain/campaigns/campaign.ts';
import type { Recipient } from '../../../domain/campaigns/recipient.ts';
import type { Message } from '../../../domain/messages/message.ts';

/** What has a place per project. */
export type RetentionSubject = 'messages' | 'reports';

/** Everything of the project up to this place was treated, in the order of creation, then of ids. */
export interface RetentionPlace {
  readonly projectId: string;
  readonly subject: RetentionSubject;
  /** What was done so far: another action begins anew. */
  readonly action: RetentionAction;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly id: string;
}

/** A range of a project in the order of creation, then of ids. */
export interface AgedQuery {
  readonly projectId: string;
  /** Only what was created before. Milliseconds since 1970. */
  readonly before: number;
  /** Only what lies behind this place; null from the first. */
  readonly after: { readonly createdAt: number; readonly id: string } | null;
  readonly limit: number;
}

/** A thing and when it was created. */
export interface AgedRow {
  readonly id: string;
  readonly createdAt: number;
}

/** What retention reads and changes. Every method is bounded by its limit or its list. */
export interface RetentionStore {
  /** The place of a subject of a project; null before the first. Locked until the transaction ends. */
  place(projectId: string, subject: RetentionSubject): Promise<RetentionPlace | null>;
  savePlace(place: RetentionPlace): Promise<void>;
  /**
   * Whether the first message of the project was left out although it lies before the place: it has its number, and does not
   * wait.
   */
  hasLeftOut(place: RetentionPlace): Promise<boolean>;
  /** The next messages of a project, without a lock. */
  agedMessages(query: AgedQuery): Promise<readonly AgedRow[]>;
  /** The next messages of a project that wait, in the order of their ids, behind `after`. */
  waiting(projectId: string, after: string | null, limit: number): Promise<readonly string[]>;
  /** Ids that wait already are fine. */
  addWaiting(projectId: string, smsIds: readonly string[]): Promise<void>;
  /** Ids that do not wait are fine. */
  removeWaiting(projectId: string, smsIds: readonly string[]): Promise<void>;
  /** Writes all that `anonymised` changes of messages. */
  anonymiseMessages(messages: readonly Message[]): Promise<void>;
  /** Ids that do not exist are fine. Ledger entries stay. */
  removeMessages(smsIds: readonly string[]): Promise<void>;
  /** Those of the messages that have a webhook event which is still open. */
  withOpenWebhook(smsIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** The campaigns that exist, without a lock. */
  campaigns(ids: readonly string[]): Promise<readonly Campaign[]>;
  /** The campaigns of a project that ended before, the earliest first, whose numbers are still there; behind `after`. */
  endedCampaigns(query: AgedQuery): Promise<readonly Campaign[]>;
  /** The recipients of a campaign at the positions `from` to `to`, the last not included. */
  recipientsAt(campaignId: string, from: number, to: number): Promise<readonly Recipient[]>;
  /** Writes all that `anonymisedRecipient` changes of recipients. */
  anonymiseRecipients(recipients: readonly Recipient[]): Promise<void>;
  /** Notes that no number of the campaigns is left. */
  noteErased(campaignIds: readonly string[], at: number): Promise<void>;
  /** The next reports of a project, without a lock. */
  agedReports(query: AgedQuery): Promise<readonly AgedRow[]>;
  /** Removes the phone numbers from the filters of the reports. */
  eraseReportFilters(reportIds: readonly string[]): Promise<void>;
  /** The next webhook events of all projects that are not open, in the order of creation, then of ids. */
  endedWebhooks(query: Omit<AgedQuery, 'projectId'>): Promise<readonly EndedWebhook[]>;
  /** Removes those of the events that are not open, with their delivery attempts. */
  removeWebhooks(ids: readonly string[]): Promise<void>;
}

/** A webhook event that is not open, and whose it is. */
export interface EndedWebhook extends AgedRow {
  readonly projectId: string;
}

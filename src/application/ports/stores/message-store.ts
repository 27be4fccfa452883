import type { Message } from '../../../domain/messages/message.ts';
import type { WhatsappSender } from '../../../domain/messages/send-request.ts';
import type { ReportedMessage } from '../../../domain/reports/report-row.ts';
import type { PhoneNumber } from '../../../domain/shared/phone-number.ts';

export interface MessageStore {
  /** Fails the unit on an smsId that exists. */
  insert(messages: readonly Message[]): Promise<void>;
  /** The messages that exist, in the order of their ids, locked until the transaction ends. */
  lock(smsIds: readonly string[]): Promise<readonly Message[]>;
  /**
   * Writes what a message event can change: attempts, status, time of sending, reason; of a final message also its content,
   * which is masked then, and its finality.
   */
  save(messages: readonly Message[]): Promise<void>;
  /** A project's message, or null when it is unknown or another's. */
  find(projectId: string, smsId: string): Promise<Message | null>;
  /** The project of each message that exists, by smsId. Locks nothing. */
  projectIdsOf(smsIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * For each key, the instants after `since`, up to `until`, at which the project's sends to the number were accepted,
   * in any order. At most the newest `limit` of each. In a unit of work that writes only.
   */
  acceptedAt(keys: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]>;
  /**
   * The next messages of a project in the order of creation, then of their ids: created from `from` to `to`, both included,
   * behind `after`, at most `limit`.
   */
  reported(query: ReportedQuery): Promise<readonly ReportedMessage[]>;
  /**
   * What whatsapp accounts and numbers the project's messages name that were sent one by one and may still be submitted: those
   * with a job, a dead-letter one too. Reads the jobs of single messages, of all projects where they are scheduled.
   */
  sendersOfOpen(projectId: string): Promise<readonly WhatsappSender[]>;
  /** When the newest message of all projects was created, in milliseconds since 1970; null when there is none. */
  newestAt(): Promise<number | null>;
  /** The ids of the messages of all projects that are not final and were created after the instant, in any order. */
  openSince(after: number): Promise<readonly string[]>;
}

/** A place in the order of a project's messages. */
export type MessagePlace = Pick<ReportedMessage, 'createdAt' | 'smsId'>;

export interface ReportedQuery {
  readonly projectId: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly after: MessagePlace | null;
  readonly limit: number;
}

export interface AcceptedAtQuery {
  readonly projectId: string;
  readonly phoneNumber: PhoneNumber;
  /** Milliseconds since 1970, exclusive. */
  readonly since: number;
  /** Milliseconds since 1970, inclusive. */
  readonly until: number;
  readonly limit: number;
}

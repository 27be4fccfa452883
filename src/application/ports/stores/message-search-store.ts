import type { Message } from '../../../domain/messages/message.ts';
import type { PhoneNumber } from '../../../domain/shared/phone-number.ts';
import type { MessagePlace } from './message-store.ts';

/** What a list of messages shows: neither code nor text. */
export type FoundMessage = Pick<
  Message,
  | 'smsId'
  | 'projectId'
  | 'campaignId'
  | 'phoneNumber'
  | 'channels'
  | 'status'
  | 'isFinal'
  | 'cost'
  | 'createdAt'
  | 'sentAt'
  | 'finalAt'
  | 'errorReason'
>;

export interface MessageSearch {
  /** Null for all projects. */
  readonly projectId: string | null;
  readonly phoneNumber: PhoneNumber | null;
  /** Milliseconds since 1970, both included. Without project and number, the time of a message is that of its id. */
  readonly from: number;
  readonly to: number;
  /** Only messages behind this one; null for all. */
  readonly after: MessagePlace | null;
  readonly limit: number;
}

/** Messages that were found, and where the search goes on; null when there are no older ones. */
export interface FoundMessages {
  readonly rows: readonly FoundMessage[];
  readonly next: MessagePlace | null;
}

/** Messages as operators search them. Every read follows an index, is bounded, and ends after `limit` rows. */
export interface MessageSearchStore {
  /**
   * The newest messages, the newest first: by their ids over all projects, else by creation and id. With a number they are in
   * either order, always in the same, and messages to it of other projects may be among the rows. Fewer than `limit` are
   * no sign of the end: `next` is.
   */
  newest(search: MessageSearch): Promise<FoundMessages>;
}

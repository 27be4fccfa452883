/** Specification 2.1 and 3.2: what a message can be. */
export const MESSAGE_STATUSES = ['pending', 'sent', 'delivered', 'read', 'failed'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

const RANK: Readonly<Record<Exclude<MessageStatus, 'failed'>, number>> = {
  pending: 0,
  sent: 1,
  delivered: 2,
  read: 3,
};

/**
 * The status after hearing `next`: only ever upwards, and failed only from pending or sent. A delivery
 * receipt that would lower the status (late, doubled, reversed) changes nothing.
 */
export function raiseStatus(current: MessageStatus, next: MessageStatus): MessageStatus {
  if (current === 'failed') return current;
  if (next === 'failed') return RANK[current] <= RANK.sent ? 'failed' : current;
  return RANK[next] > RANK[current] ? next : current;
}

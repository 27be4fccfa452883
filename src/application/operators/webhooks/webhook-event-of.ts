import { HEX_ID_PATTERN } from '../../../domain/shared/hex-id.ts';
import { Rejected } from '../../errors/rejected.ts';
import type { LoggedEvent } from '../../ports/stores/webhook-log-store.ts';
import type { Stores } from '../../ports/stores.ts';

/** The webhook event of this id. Throws `Rejected` when there is none, and for what is no id. */
export async function eventOf(
  { webhookLog }: Pick<Stores, 'webhookLog'>,
  eventId: string,
): Promise<LoggedEvent> {
  const [event] = HEX_ID_PATTERN.test(eventId) ? await webhookLog.byIds([eventId]) : [];
  if (event === undefined) throw new Rejected({ kind: 'webhook-event-not-found' });
  return event;
}

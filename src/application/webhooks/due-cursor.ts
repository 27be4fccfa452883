import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { DuePlace } from '../ports/stores/webhook-stores.ts';

/**
 * How far the due events of a destination are read. While there are more, a fetch reads behind the last one, and does not read
 * the events in hand once more. An event that was committed late may stand before the cursor, so the cursor is restarted now and
 * then.
 */
export class DueCursor {
  #after: DuePlace | null = null;
  #hasMore = false;
  #isRestarted = false;

  /** Whether the last fetch may have left due events behind. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** A fetch begins: it reads behind this event, or all that is due. One fetch at a time. */
  begin(): DuePlace | null {
    this.#isRestarted = false;
    return this.#after;
  }

  /** The fetch has found these new events, and there may be more. After a `restart` the next one reads all that is due. */
  advance(events: readonly WebhookEvent[], hasMore: boolean): void {
    const last = events.at(-1);
    this.#hasMore = hasMore;
    this.#after = null;
    if (last === undefined || last.nextAttemptAt === null || !hasMore || this.#isRestarted) return;
    this.#after = { nextAttemptAt: last.nextAttemptAt, id: last.id };
  }

  /** The next fetch reads all that is due. */
  restart(): void {
    this.#after = null;
    this.#isRestarted = true;
  }
}

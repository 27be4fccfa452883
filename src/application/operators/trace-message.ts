import { type LedgerEntry, ledgerEntryId } from '../../domain/billing/ledger.ts';
import { type Message, SMS_ID_PATTERN } from '../../domain/messages/message.ts';
import type { WebhookAttempt } from '../../domain/webhooks/webhook-attempt.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { Rejected } from '../errors/rejected.ts';
import type { LoggedEvent } from '../ports/stores/webhook-log-store.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** Delivery attempts of one message that a trace shows at most: its events are attempted some dozen times each. */
const TRACED_ATTEMPTS_MAX = 500;

/** A webhook event with its attempts, the newest first. */
export interface TracedEvent {
  readonly event: LoggedEvent;
  readonly body: WebhookEvent['body'];
  readonly attempts: readonly WebhookAttempt[];
}

/** Everything that is stored of one message. */
export interface MessageTrace {
  readonly message: Message;
  readonly entries: readonly LedgerEntry[];
  /** The oldest first. */
  readonly events: readonly TracedEvent[];
}

/** One message of any project, with its attempts, ledger entries and webhook events. */
export class TraceMessage {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /** Rejects as `message-not-found`. */
  async execute(smsId: string): Promise<MessageTrace> {
    const trace = SMS_ID_PATTERN.test(smsId) ? await this.#read(smsId) : null;
    if (trace === null) throw new Rejected({ kind: 'message-not-found' });
    return trace;
  }

  #read(smsId: string): Promise<MessageTrace | null> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const projectId = (await stores.messages.projectIdsOf([smsId])).get(smsId);
      if (projectId === undefined) return null;
      const message = await stores.messages.find(projectId, smsId);
      if (message === null) return null;
      const ids = [ledgerEntryId(smsId, 'hold'), ledgerEntryId(smsId, 'settlement')];
      const entries = await stores.ledger.byIds(ids);
      const logged = await stores.webhookLog.ofOrderingKeys([smsId]);
      const [attempts = []] = await stores.webhookAttempts.ofOrderingKeys([smsId], TRACED_ATTEMPTS_MAX);
      const events = logged.map(({ body, ...event }) => ({
        event,
        body,
        attempts: attempts.filter(({ eventId }) => eventId === event.id),
      }));
      return { message, entries, events };
    });
  }
}

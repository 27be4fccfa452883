import { destinationKey } from '../../../domain/webhooks/destination.ts';
import type { WebhookAttempt } from '../../../domain/webhooks/webhook-attempt.ts';
import type { WebhookState } from '../../../domain/webhooks/webhook-event.ts';
import type { DestinationCircuit, EventPlace, LoggedEvent } from '../../ports/stores/webhook-log-store.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';
import { projectIdIn } from '../named-project.ts';
import { type ListPage, sliceOf, walkPage } from '../walk-page.ts';
import { eventOf } from './webhook-event-of.ts';

/** What an operator filters the log by; null for what does not matter. */
export interface LogFilter {
  /** An id or a slug. */
  readonly project: string | null;
  /** Host, port and path. */
  readonly endpoint: string | null;
  readonly state: WebhookState | null;
  /** Our id of a whatsapp number: only its inbound events. */
  readonly whatsappPhoneId: string | null;
  /** Milliseconds since 1970, both included. */
  readonly from: number;
  readonly to: number;
}

/** The attempts of one event that are shown at most. */
export const SHOWN_ATTEMPTS_MAX = 500;

/** Webhook events, delivery attempts and open circuits of all projects, for operators. */
export class ReadWebhookLog {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /** Up to `limit` events behind `after`, the newest first. Rejects as `project-not-found`. */
  async events(
    { project, endpoint, state, whatsappPhoneId, from, to }: LogFilter,
    after: EventPlace | null,
    limit: number,
  ): Promise<ListPage<LoggedEvent, EventPlace>> {
    const projectId = await this.#ports.unitOfWork.read((stores) => projectIdIn(stores, project));
    const { unitOfWork } = this.#ports;
    const isDiscarded = projectId !== null && endpoint !== null && state === 'discarded';
    const placeOf = ({ createdAt, id }: LoggedEvent): EventPlace => ({ createdAt, id });
    return walkPage<LoggedEvent, EventPlace>({
      read: async (place, rows) => {
        const events = await unitOfWork.read(({ webhookLog }) =>
          isDiscarded
            ? webhookLog.discarded({ projectId, endpoint }, place?.id ?? null, rows)
            : webhookLog.newest({ whatsappPhoneId, from, to, after: place, limit: rows }),
        );
        return sliceOf(events, rows, placeOf);
      },
      placeOf,
      matches: (event) =>
        (projectId === null || event.projectId === projectId) &&
        (endpoint === null || event.endpoint === endpoint) &&
        (state === null || event.state === state) &&
        (whatsappPhoneId === null || event.whatsappPhoneId === whatsappPhoneId) &&
        event.createdAt >= from &&
        event.createdAt <= to,
      after,
      limit,
      isDense: projectId === null && endpoint === null && state === null,
    });
  }

  /** One event with its attempts, the newest first. Rejects as `webhook-event-not-found`. */
  event(
    eventId: string,
  ): Promise<{ readonly event: LoggedEvent; readonly attempts: readonly WebhookAttempt[] }> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const event = await eventOf(stores, eventId);
      const [attempts = []] = await stores.webhookAttempts.ofOrderingKeys(
        [event.orderingKey],
        SHOWN_ATTEMPTS_MAX,
      );
      return { event, attempts: attempts.filter((attempt) => attempt.eventId === event.id) };
    });
  }

  /**
   * Up to `limit` destinations whose circuit is not closed, behind `after` (a `destinationKey`), of a project or of all
   * with null. Rejects as `project-not-found`.
   */
  async openCircuits(
    project: string | null,
    after: string | null,
    limit: number,
  ): Promise<ListPage<DestinationCircuit, string>> {
    const projectId = await this.#ports.unitOfWork.read((stores) => projectIdIn(stores, project));
    return walkPage<DestinationCircuit, string>({
      read: async (place, rows) => {
        const circuits = await this.#ports.unitOfWork.read(({ webhookLog }) =>
          webhookLog.circuits(place, rows),
        );
        return sliceOf(circuits, rows, destinationKey);
      },
      placeOf: destinationKey,
      matches: (circuit) =>
        circuit.breaker.openUntil !== null && (projectId === null || circuit.projectId === projectId),
      after,
      limit,
      isDense: false,
    });
  }
}

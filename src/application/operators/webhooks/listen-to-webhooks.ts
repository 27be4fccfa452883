import { millisecondsInMinute, millisecondsInSecond } from 'date-fns/constants';
import { firstIdAt, LAST_ID } from '../../../domain/shared/id-time.ts';
import type { WebhookEvent } from '../../../domain/webhooks/webhook-event.ts';
import { Rejected } from '../../errors/rejected.ts';
import type { Clock } from '../../ports/clock.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';
import type { WebhookRequest } from '../../ports/webhook-transport.ts';
import type { AttemptDelivery } from '../../webhooks/attempt-delivery.ts';
import { projectNamed } from '../named-project.ts';

/** An event that was made earlier than this is committed: a page begins there at the latest. */
export const EVENT_SETTLES_MS = 5 * millisecondsInSecond;

/** Older events are not listened to any more. */
export const LISTEN_MS_MAX = 15 * millisecondsInMinute;

/** Events of all projects that one page reads at most: the page may be short, or empty, and yet have a next one. */
const READ_EVENTS_MAX = 5_000;

/** An event and the request that would be posted now. */
export interface ListenedEvent {
  readonly event: WebhookEvent;
  readonly request: WebhookRequest;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly attemptDelivery: Pick<AttemptDelivery, 'requestOf'>;
  readonly clock: Clock;
}

/** The webhook events of dev projects as they are made, for a developer whose receiver has no public address. */
export class ListenToWebhooks {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Up to `limit` events with ids greater than `after`, the oldest first, none with null; signed at this instant. An event
   * whose secret cannot be opened is left out. `next` is the `after` of the next page: events of the last seconds come
   * again, because one with a smaller id may be committed later. Rejects as `project-not-found`, and as
   * `project-not-dev` for a live project.
   */
  async page(
    project: string,
    after: string | null,
    limit: number,
  ): Promise<{ readonly events: readonly ListenedEvent[]; readonly next: string }> {
    const { unitOfWork, attemptDelivery, clock } = this.#ports;
    const now = clock.now();
    const settled = firstIdAt(now - EVENT_SETTLES_MS);
    const from = laterId(after ?? firstIdAt(now), firstIdAt(now - LISTEN_MS_MAX));
    const { found, readTo } = await unitOfWork.read(async (stores) => {
      const { id, environment } = await projectNamed(stores, project);
      if (environment !== 'dev') throw new Rejected({ kind: 'project-not-dev' });
      if (after === null) return { found: [], readTo: settled };
      const last = (await stores.webhookEvents.idBehind(from, READ_EVENTS_MAX)) ?? LAST_ID;
      const events = await stores.webhookEvents.ofProject(id, { after: from, last }, limit);
      return { found: events, readTo: events.length === limit ? (events.at(-1)?.id ?? last) : last };
    });
    const requests = await Promise.all(found.map((event) => attemptDelivery.requestOf(event, now)));
    return {
      events: found.flatMap((event, index) => {
        const request = requests[index] ?? null;
        return request === null ? [] : [{ event, request }];
      }),
      next: laterId(from, readTo < settled ? readTo : settled),
    };
  }
}

function laterId(a: string, b: string): string {
  return a > b ? a : b;
}

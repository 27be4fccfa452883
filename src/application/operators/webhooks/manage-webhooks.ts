import { auditedCircuit } from '../../../domain/audit/audited.ts';
import type { Actor } from '../../../domain/shared/actor.ts';
import { CLOSED_CIRCUIT } from '../../../domain/shared/circuit-breaker.ts';
import { destinationKey, type WebhookDestination } from '../../../domain/webhooks/destination.ts';
import { hostOf } from '../../../domain/webhooks/endpoint.ts';
import { type Resent, resend } from '../../../domain/webhooks/resend.ts';
import type { WebhookEvent } from '../../../domain/webhooks/webhook-event.ts';
import { orderingOf, type WebhookOrdering } from '../../../domain/webhooks/webhook-kind.ts';
import { newChange, recordChange } from '../../audit/record-change.ts';
import { Rejected } from '../../errors/rejected.ts';
import { deliverWebhooksJob } from '../../jobs/webhook-jobs.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Stores } from '../../ports/stores.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';
import type { WakeSignal } from '../../ports/wake-signal.ts';
import { projectNamed } from '../named-project.ts';
import { eventOf } from './webhook-event-of.ts';

/** Events that one call makes due. Its transaction takes some milliseconds, and other work goes on before the next one. */
export const RESEND_SLICE_EVENTS = 500;

/** What became of one slice. */
export interface ResentSlice {
  readonly resent: number;
  readonly superseded: number;
  /** Inbound events that stay discarded: their number has no inbound webhook of the project. */
  readonly withoutWebhook: number;
  /** Where the next slice begins; null after the last one. */
  readonly next: string | null;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
}

/**
 * Webhook events that operators send again, and circuits that they close. Each change and its audit record are one
 * transaction. What is due goes its usual way: the job of its destination, by the shares of the scheduler.
 */
export class ManageWebhooks {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Makes an event due at once. Rejects as `webhook-event-not-found`, `webhook-event-not-resendable` and, when the number of an
   * inbound event has no inbound webhook now, as `webhook-event-without-webhook`.
   */
  async resendEvent(actor: Actor, eventId: string): Promise<WebhookEvent> {
    const change = newChange(this.#ports, actor);
    const sent = await this.#ports.unitOfWork.run(async (stores) => {
      const found = await eventOf(stores, eventId);
      const { at, resent, withoutWebhook } = await this.#resendLocked(stores, [found]);
      const [event] = resent;
      if (withoutWebhook.length > 0) throw new Rejected({ kind: 'webhook-event-without-webhook' });
      if (event === undefined) throw new Rejected({ kind: 'webhook-event-not-resendable' });
      await save(stores, { resent, superseded: [] }, at);
      await recordChange(stores, change, 'webhook-resent', event.projectId, {
        before: { eventId, state: found.state },
        after: { eventId, state: event.state, host: hostOf(event.endpoint) },
      });
      return event;
    });
    this.#ports.wakeSignal.wake();
    return sent;
  }

  /**
   * Makes discarded events of a destination due, the newest first, up to `RESEND_SLICE_EVENTS` behind `after` (the id of an
   * event). What a slice made due is committed: the same call goes on with what is still discarded. Rejects as
   * `project-not-found`.
   */
  async resendSlice(
    actor: Actor,
    { project, endpoint }: { readonly project: string; readonly endpoint: string },
    after: string | null,
  ): Promise<ResentSlice> {
    const change = newChange(this.#ports, actor);
    const slice = await this.#ports.unitOfWork.run(async (stores) => {
      const { id: projectId } = await projectNamed(stores, project);
      const found = await stores.webhookLog.discarded({ projectId, endpoint }, after, RESEND_SLICE_EVENTS);
      const result = await this.#resendLocked(stores, found);
      await save(stores, result, result.at);
      const counts = {
        resent: result.resent.length,
        superseded: result.superseded.length,
        withoutWebhook: result.withoutWebhook.length,
      };
      if (counts.resent + counts.superseded > 0) {
        await recordChange(stores, change, 'webhooks-resent', projectId, {
          before: null,
          after: { host: hostOf(endpoint), ...counts },
        });
      }
      const next = found.length < RESEND_SLICE_EVENTS ? null : (found.at(-1)?.id ?? null);
      return { ...counts, next };
    });
    this.#ports.wakeSignal.wake();
    return slice;
  }

  /**
   * Closes the circuit of a destination: its due events are attempted now. Rejects as `project-not-found` and `circuit-not-open`.
   */
  async closeCircuit(
    actor: Actor,
    { project, endpoint }: { readonly project: string; readonly endpoint: string },
  ): Promise<WebhookDestination> {
    const change = newChange(this.#ports, actor);
    const closed = await this.#ports.unitOfWork.run(async (stores) => {
      const { id: projectId } = await projectNamed(stores, project);
      const destination = { projectId, endpoint };
      const key = destinationKey(destination);
      const known = (await stores.circuitBreakers.read([key])).get(key) ?? CLOSED_CIRCUIT;
      if (known.openUntil === null) throw new Rejected({ kind: 'circuit-not-open' });
      const before = (await stores.circuitBreakers.lock([key], change.at)).get(key) ?? CLOSED_CIRCUIT;
      if (before.openUntil === null) throw new Rejected({ kind: 'circuit-not-open' });
      await stores.circuitBreakers.save(new Map([[key, CLOSED_CIRCUIT]]), change.at);
      await stores.jobs.scheduleNoLaterThan([deliverWebhooksJob(destination, change.at)], change.at);
      const host = hostOf(endpoint);
      await recordChange(stores, change, 'circuit-closed', projectId, {
        before: { host, ...auditedCircuit(before) },
        after: { host, ...auditedCircuit(CLOSED_CIRCUIT) },
      });
      return destination;
    });
    this.#ports.wakeSignal.wake();
    return closed;
  }

  /**
   * Locks messages and inbound webhooks first, as their changes do: no newer event and no other address comes in between. The
   * instant is read behind the locks: what came due while they were waited for may be in an attempt.
   */
  async #resendLocked(
    stores: Stores,
    found: readonly Pick<WebhookEvent, 'id' | 'kind' | 'orderingKey' | 'whatsappPhoneId'>[],
  ): Promise<Resent & { readonly at: number }> {
    const smsIds = keysOf(found, 'message');
    const messages = smsIds.length === 0 ? [] : await stores.messages.lock(smsIds);
    const numberIds = new Set(found.flatMap(({ whatsappPhoneId }) => whatsappPhoneId ?? []));
    const webhooks = await stores.inboundWebhooks.lock([...numberIds]);
    const events = await stores.webhookEvents.lock(found.map(({ id }) => id));
    const context = {
      openMessages: new Set(messages.filter(({ isFinal }) => !isFinal).map(({ smsId }) => smsId)),
      newestNotices: await newestNotices(stores, keysOf(found, 'notices')),
      inboundWebhooks: new Map(webhooks.map((webhook) => [webhook.whatsappPhoneId, webhook])),
    };
    const at = this.#ports.clock.now();
    return { at, ...resend(events, context, at) };
  }
}

function keysOf(
  found: readonly Pick<WebhookEvent, 'kind' | 'orderingKey'>[],
  wanted: WebhookOrdering,
): readonly string[] {
  return [
    ...new Set(found.flatMap(({ kind, orderingKey }) => (orderingOf(kind) === wanted ? [orderingKey] : []))),
  ];
}

/** An ended notice was attempted, so an attempt names it. */
async function newestNotices(
  { webhookAttempts, webhookEvents }: Pick<Stores, 'webhookAttempts' | 'webhookEvents'>,
  orderingKeys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (orderingKeys.length === 0) return new Map();
  const newest = new Map(await webhookAttempts.newestEvents(orderingKeys));
  for (const { id, orderingKey } of await webhookEvents.lockOpen(orderingKeys)) {
    if (id > (newest.get(orderingKey) ?? '')) newest.set(orderingKey, id);
  }
  return newest;
}

async function save(
  { webhookEvents, jobs }: Pick<Stores, 'webhookEvents' | 'jobs'>,
  { resent, superseded }: Pick<Resent, 'resent' | 'superseded'>,
  now: number,
): Promise<void> {
  await webhookEvents.saveWithAddress(resent);
  await webhookEvents.save(superseded);
  const due = new Map(resent.map((event) => [destinationKey(event), deliverWebhooksJob(event, now)]));
  await jobs.scheduleNoLaterThan([...due.values()], now);
}

import { changedFields } from '../../../domain/audit/audit-record.ts';
import { auditedInboundWebhook } from '../../../domain/audit/audited.ts';
import type { Actor } from '../../../domain/shared/actor.ts';
import { newInboundSecret, onlySecret, rotated } from '../../../domain/webhooks/inbound-secrets.ts';
import { addressOf, type InboundWebhook } from '../../../domain/webhooks/inbound-webhook.ts';
import { discard } from '../../../domain/webhooks/webhook-event.ts';
import { findPhoneNumber } from '../../../domain/whatsapp/whatsapp-resources.ts';
import { newChange, recordChange } from '../../audit/record-change.ts';
import { Rejected } from '../../errors/rejected.ts';
import { deliverWebhooksJob } from '../../jobs/webhook-jobs.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import type { ManagedProject } from '../../ports/stores/project-store.ts';
import type { NumberOfProject } from '../../ports/stores/webhook-stores.ts';
import type { Stores } from '../../ports/stores.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';
import type { WakeSignal } from '../../ports/wake-signal.ts';
import type { WebhookTransport } from '../../ports/webhook-transport.ts';
import { lockedTreeOf } from '../../whatsapp/tree-of.ts';
import { lockedProject, projectNamed } from '../named-project.ts';
import { cutPage, type ListPage } from '../walk-page.ts';

/** A webhook as operators see it; `now` is when it was read. */
export interface ListedWebhook {
  readonly webhook: InboundWebhook;
  readonly now: number;
}

/** A webhook with the secret that was just made: it can never be read again. */
export interface WebhookWithSecret extends ListedWebhook {
  readonly secret: string;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly webhookTransport: Pick<WebhookTransport, 'acceptUrl'>;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
}

/** Events that one transaction changes; a number may have any number of them. */
const EVENTS_PER_SLICE = 500;

/** Why the open events of a removed webhook end, in the log of the number. */
const REMOVED_ERROR = 'webhook-removed';

/**
 * Where the messages to whatsapp numbers go (specification 6.2), for operators. A change takes effect in every process within
 * `SETTINGS_FRESH_MS`. Numbers are named by our 24-hex id.
 */
export class ManageInboundWebhooks {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Up to `limit` webhooks of the project in the order of their numbers, those after `after` when it is given. */
  list(project: string, after: string | null, limit: number): Promise<ListPage<ListedWebhook, string>> {
    const now = this.#ports.clock.now();
    return this.#ports.unitOfWork.read(async (stores) => {
      const { id } = await projectNamed(stores, project);
      const webhooks = await stores.inboundWebhooks.ofProject(id, after, limit + 1);
      const listed = webhooks.map((webhook) => ({ webhook, now }));
      return cutPage(listed, limit, ({ webhook }) => webhook.whatsappPhoneId);
    });
  }

  /**
   * Gives a number of the project a webhook. Rejects as `webhook-url-refused`, `phone-number-not-found`, and
   * `inbound-webhook-exists` when the number has one, also for another project.
   */
  create(actor: Actor, project: string, whatsappPhoneId: string, url: string): Promise<WebhookWithSecret> {
    const { unitOfWork, secretBox, ids } = this.#ports;
    const change = newChange(this.#ports, actor);
    const accepted = this.#accepted(url);
    const secret = newInboundSecret(() => ids.secret());
    return unitOfWork.run(async (stores) => {
      const { id: projectId } = await lockedProject(stores, project);
      const tree = await lockedTreeOf(stores, projectId);
      if (findPhoneNumber(tree, whatsappPhoneId) === null) {
        throw new Rejected({ kind: 'phone-number-not-found' });
      }
      const [existing] = await stores.inboundWebhooks.lock([whatsappPhoneId]);
      if (existing !== undefined) throw new Rejected({ kind: 'inbound-webhook-exists' });
      const webhook = { projectId, whatsappPhoneId, url: accepted, ...onlySecret(secretBox.seal(secret)) };
      await stores.inboundWebhooks.insert([webhook]);
      const after = auditedInboundWebhook(webhook);
      await recordChange(stores, change, 'inbound-webhook-created', projectId, { before: null, after });
      return { webhook, secret, now: change.at };
    });
  }

  /**
   * Gives a webhook another address; events that wait go there too. Rejects as `webhook-url-refused` and
   * `inbound-webhook-not-found`. The same address changes nothing, but moves events that an interrupted call left behind.
   */
  async redirect(
    actor: Actor,
    project: string,
    whatsappPhoneId: string,
    url: string,
  ): Promise<ListedWebhook> {
    const change = newChange(this.#ports, actor);
    const accepted = this.#accepted(url);
    const webhook = await this.#ports.unitOfWork.run(async (stores) => {
      const owner = await lockedProject(stores, project);
      const before = await lockedWebhook(stores, owner, whatsappPhoneId);
      const after = { ...before, url: accepted };
      if (before.url === accepted) return after;
      await stores.inboundWebhooks.save([after]);
      await recordChange(stores, change, 'inbound-webhook-changed', owner.id, {
        before: auditedInboundWebhook(before),
        after: auditedInboundWebhook(after),
      });
      return after;
    });
    for (let moved: string | null = ''; moved !== null; ) moved = await this.#moveEvents(webhook, moved);
    this.#ports.wakeSignal.wake();
    return { webhook, now: change.at };
  }

  /**
   * Removes a webhook; events that wait are discarded, the webhook goes with the last of them. Rejects as
   * `inbound-webhook-not-found`.
   */
  async remove(actor: Actor, project: string, whatsappPhoneId: string): Promise<ListedWebhook> {
    const change = newChange(this.#ports, actor);
    for (;;) {
      const removed = await this.#ports.unitOfWork.run(async (stores) => {
        const owner = await lockedProject(stores, project);
        const webhook = await lockedWebhook(stores, owner, whatsappPhoneId);
        const open = await stores.webhookEvents.lockOpenOfNumber(webhook, '', EVENTS_PER_SLICE);
        await stores.webhookEvents.save(open.map((event) => discard(event, REMOVED_ERROR)));
        if (open.length === EVENTS_PER_SLICE) return null;
        await stores.inboundWebhooks.remove([whatsappPhoneId]);
        const before = auditedInboundWebhook(webhook);
        await recordChange(stores, change, 'inbound-webhook-removed', owner.id, { before, after: null });
        return webhook;
      });
      if (removed !== null) return { webhook: removed, now: change.at };
    }
  }

  /**
   * Makes a new secret, which replaces the old one after `overlapMs`; both sign meanwhile. Rejects as
   * `inbound-webhook-not-found`, and as `secret-in-rotation` while an overlap goes on, unless `overlapMs` is 0.
   */
  rotateSecret(
    actor: Actor,
    project: string,
    whatsappPhoneId: string,
    overlapMs: number,
  ): Promise<WebhookWithSecret> {
    const { unitOfWork, secretBox, ids } = this.#ports;
    const change = newChange(this.#ports, actor);
    const secret = newInboundSecret(() => ids.secret());
    return unitOfWork.run(async (stores) => {
      const owner = await lockedProject(stores, project);
      const before = await lockedWebhook(stores, owner, whatsappPhoneId);
      const secrets = rotated(before, secretBox.seal(secret), change.at, overlapMs);
      if (secrets === null) throw new Rejected({ kind: 'secret-in-rotation' });
      const webhook = { ...before, ...secrets };
      await stores.inboundWebhooks.save([webhook]);
      const fields = changedFields(auditedInboundWebhook(before), auditedInboundWebhook(webhook));
      await recordChange(stores, change, 'inbound-secret-rotated', owner.id, {
        before: { whatsappPhoneId, ...fields.before },
        after: { whatsappPhoneId, ...fields.after },
      });
      return { webhook, secret, now: change.at };
    });
  }

  #accepted(url: string): string {
    const accepted = this.#ports.webhookTransport.acceptUrl(url);
    if (accepted === null) throw new Rejected({ kind: 'webhook-url-refused', field: 'url' });
    return accepted;
  }

  /**
   * Moves a slice of the open events behind `after` to the address that their webhook has by now. Resolves with where the next
   * slice begins, null after the last one.
   */
  #moveEvents(number: NumberOfProject, after: string): Promise<string | null> {
    const now = this.#ports.clock.now();
    return this.#ports.unitOfWork.run(async ({ inboundWebhooks, webhookEvents, jobs }) => {
      const [webhook] = await inboundWebhooks.lock([number.whatsappPhoneId]);
      if (webhook?.projectId !== number.projectId) return null;
      const address = addressOf(webhook, now);
      const open = await webhookEvents.lockOpenOfNumber(number, after, EVENTS_PER_SLICE);
      const moved = open.filter(({ url }) => url !== address.url).map((event) => ({ ...event, ...address }));
      await webhookEvents.saveWithAddress(moved);
      // The job finds out when the first of them is due.
      await jobs.scheduleNoLaterThan(
        moved.slice(0, 1).map((event) => deliverWebhooksJob(event, now)),
        now,
      );
      return open.length < EVENTS_PER_SLICE ? null : (open.at(-1)?.id ?? null);
    });
  }
}

async function lockedWebhook(
  { inboundWebhooks }: Pick<Stores, 'inboundWebhooks'>,
  project: ManagedProject,
  whatsappPhoneId: string,
): Promise<InboundWebhook> {
  const [webhook] = await inboundWebhooks.lock([whatsappPhoneId]);
  if (webhook?.projectId !== project.id) throw new Rejected({ kind: 'inbound-webhook-not-found' });
  return webhook;
}

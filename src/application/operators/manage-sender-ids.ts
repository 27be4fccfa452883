import { type AuditAction, changedFields } from '../../domain/audit/audit-record.ts';
import { auditedSenderId } from '../../domain/audit/audited.ts';
import type { MobileOperatorPrices } from '../../domain/billing/pricing.ts';
import {
  approvedSenderId,
  type ManagedSenderId,
  pricedSenderId,
  rejectedSenderId,
  requestedSenderId,
  senderIdRequestRejection,
} from '../../domain/senders/managed-sender-id.ts';
import type { SenderIdStatus } from '../../domain/senders/sender-id.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { newChange, recordChange } from '../audit/record-change.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { lockedProject, projectIdIn } from './named-project.ts';
import { cutPage, type ListPage } from './walk-page.ts';

/** Which sender IDs a list has. */
export interface SenderIdFilter {
  /** An id or a slug; null for those of all projects. */
  readonly project: string | null;
  /** Null for every status. */
  readonly status: SenderIdStatus | null;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * The sender IDs of projects, for operators. Each change and its audit record are one transaction, behind the lock of the
 * project. Sends read sender IDs in their own transaction: a change takes effect with its commit, in every process.
 */
export class ManageSenderIds {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Adds a sender ID that waits for a decision. Rejects as `project-archived`, `sender-id-taken` and `too-many-sender-ids`. */
  request(
    actor: Actor,
    project: string,
    given: { readonly senderId: string; readonly pricePerSms: MobileOperatorPrices },
  ): Promise<ManagedSenderId> {
    const { unitOfWork, ids } = this.#ports;
    const change = newChange(this.#ports, actor);
    return unitOfWork.run(async (stores) => {
      const { id: projectId, archivedAt } = await lockedProject(stores, project);
      if (archivedAt !== null) throw new Rejected({ kind: 'project-archived' });
      const existing = await stores.senderIds.byProjectIds([projectId]);
      const rejection = senderIdRequestRejection(existing, given.senderId);
      if (rejection !== null) throw new Rejected(rejection);
      const sender = requestedSenderId({ id: ids.hex24(change.at), projectId, ...given });
      await stores.senderIds.insert([sender]);
      const after = auditedSenderId(sender);
      await recordChange(stores, change, 'sender-id-requested', projectId, { before: null, after });
      return sender;
    });
  }

  /** Lets sends name it. Rejects as `project-not-found` and `unknown-sender-id`, as all below do. */
  approve(actor: Actor, project: string, sender: string): Promise<ManagedSenderId> {
    return this.#change(actor, 'sender-id-approved', project, sender, approvedSenderId);
  }

  /** Keeps sends from naming it. */
  reject(actor: Actor, project: string, sender: string, reason: string): Promise<ManagedSenderId> {
    return this.#change(actor, 'sender-id-rejected', project, sender, (found) =>
      rejectedSenderId(found, reason),
    );
  }

  /** Changes its prices of the given mobile operators. */
  setPrices(
    actor: Actor,
    project: string,
    sender: string,
    prices: Partial<MobileOperatorPrices>,
  ): Promise<ManagedSenderId> {
    return this.#change(actor, 'sender-id-priced', project, sender, (found) => pricedSenderId(found, prices));
  }

  /** Up to `limit` sender IDs in the order of their ids, those after `after` when it is given. */
  list(
    { project, status }: SenderIdFilter,
    after: string | null,
    limit: number,
  ): Promise<ListPage<ManagedSenderId, string>> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const projectId = await projectIdIn(stores, project);
      const found = await stores.senderIds.list({ projectId, status, after, limit: limit + 1 });
      return cutPage(found, limit, ({ id }) => id);
    });
  }

  /** Takes the id or the name of a sender ID. A change that changes nothing is not recorded. */
  #change(
    actor: Actor,
    action: AuditAction,
    project: string,
    idOrName: string,
    decide: (sender: ManagedSenderId) => ManagedSenderId,
  ): Promise<ManagedSenderId> {
    const change = newChange(this.#ports, actor);
    return this.#ports.unitOfWork.run(async (stores) => {
      const { id: projectId } = await lockedProject(stores, project);
      const sender = await senderOf(stores, projectId, idOrName);
      const changed = decide(sender);
      const { before, after } = changedFields(auditedSenderId(sender), auditedSenderId(changed));
      if (Object.keys(after).length === 0) return sender;
      await stores.senderIds.save([changed]);
      const { id, senderId } = sender;
      await recordChange(stores, change, action, projectId, {
        before: { id, senderId, ...before },
        after: { id, senderId, ...after },
      });
      return changed;
    });
  }
}

async function senderOf(
  { senderIds }: Pick<Stores, 'senderIds'>,
  projectId: string,
  idOrName: string,
): Promise<ManagedSenderId> {
  const found = await senderIds.find(projectId, idOrName);
  if (found === null) throw new Rejected({ kind: 'unknown-sender-id' });
  return found;
}

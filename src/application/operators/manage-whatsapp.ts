import { auditedWhatsapp } from '../../domain/audit/audited.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import { isSameJson } from '../../domain/shared/same-json.ts';
import { completedTree, countNewIds, type GivenBusiness } from '../../domain/whatsapp/given-resources.ts';
import { resourceChanges, resourcesInUse } from '../../domain/whatsapp/resource-changes.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import { newChange, recordChange } from '../audit/record-change.ts';
import { lockedAccount } from '../billing/account-of.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { lockedTreeOf, treeOf } from '../whatsapp/tree-of.ts';
import { lockedProject, projectNamed } from './named-project.ts';

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * The whatsapp resources of a project, for operators. A change takes effect in every process within
 * `WHATSAPP_DIRECTORY_FRESH_MS`. A synchronisation with the platform changes the tree before or after it, never in between.
 */
export class ManageWhatsapp {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** The tree as it is stored; empty when the project has none. Rejects as `project-not-found`. */
  read(project: string): Promise<readonly WhatsappBusiness[]> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const { id } = await projectNamed(stores, project);
      return treeOf(stores, id);
    });
  }

  /**
   * Replaces the tree, and returns it as it is stored; `completedTree` has the rule of ids that are left out. An equal tree
   * changes nothing. Rejects as `project-not-found`, and as `whatsapp-resource-in-use` when a resource would vanish that a
   * campaign which has not ended, an inbound webhook or an open message uses.
   */
  replace(
    actor: Actor,
    project: string,
    given: readonly GivenBusiness[],
  ): Promise<readonly WhatsappBusiness[]> {
    const { unitOfWork, ids } = this.#ports;
    const change = newChange(this.#ports, actor);
    const { at } = change;
    const rows = {
      ids: Array.from({ length: countNewIds(given) }, () => ids.hex24(at)),
      createdAt: isoOf(at),
    };
    return unitOfWork.run(async (stores) => {
      const { id: projectId } = await lockedProject(stores, project);
      const before = await lockedTreeOf(stores, projectId);
      const after = completedTree(before, given, rows);
      if (isSameJson(before, after)) return before;
      const changes = resourceChanges(before, after);
      if (changes.removed.length > 0) await rejectInUse(stores, projectId, changes.removed);
      await stores.whatsapp.replace(projectId, after);
      const fields = auditedWhatsapp(before, after, changes);
      await recordChange(stores, change, 'whatsapp-resources-changed', projectId, fields);
      return after;
    });
  }
}

async function rejectInUse(stores: Stores, projectId: string, removed: readonly string[]): Promise<void> {
  // Sends and campaigns lock the account before they read the tree: what they add is seen here, or they see the new tree.
  await lockedAccount(stores, projectId);
  const [webhooks, campaigns, messages] = await Promise.all([
    stores.inboundWebhooks.byWhatsappPhoneIds(removed),
    stores.campaigns.sendersOfOpen(projectId),
    stores.messages.sendersOfOpen(projectId),
  ]);
  const inUse = resourcesInUse(removed, {
    campaign: new Set(campaigns.flatMap(({ whatsappPhoneId, templateId }) => [whatsappPhoneId, templateId])),
    'inbound-webhook': new Set(
      webhooks.flatMap((webhook) => (webhook.projectId === projectId ? [webhook.whatsappPhoneId] : [])),
    ),
    message: new Set(messages.flatMap(({ accountId, phoneId }) => [accountId ?? [], phoneId ?? []].flat())),
  });
  if (inUse.length > 0) throw new Rejected({ kind: 'whatsapp-resource-in-use', inUse });
}

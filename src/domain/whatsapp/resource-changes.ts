import { isSameJson } from '../shared/same-json.ts';
import type { WhatsappBusiness } from './whatsapp-resources.ts';

/** The difference of two trees, by our ids. */
export interface ResourceChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Resources with other fields, or below another one. */
  readonly changed: readonly string[];
}

/** What was added, removed and changed from one tree to the next. The order of resources does not count. */
export function resourceChanges(
  before: readonly WhatsappBusiness[],
  after: readonly WhatsappBusiness[],
): ResourceChanges {
  const old = rowsById(before);
  const current = rowsById(after);
  return {
    added: [...current.keys()].filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !current.has(id)),
    changed: [...current]
      .filter(([id, row]) => old.has(id) && !isSameJson(old.get(id), row))
      .map(([id]) => id),
  };
}

/** Each resource by its id, with its parent in place of its children. */
function rowsById(businesses: readonly WhatsappBusiness[]): ReadonlyMap<string, unknown> {
  const rows = new Map<string, unknown>();
  for (const { whatsappAccounts, ...business } of businesses) {
    rows.set(business.id, business);
    for (const { phoneNumbers, templates, ...account } of whatsappAccounts) {
      rows.set(account.id, { ...account, parent: business.id });
      for (const each of [...phoneNumbers, ...templates]) rows.set(each.id, { ...each, parent: account.id });
    }
  }
  return rows;
}

/** What can use a whatsapp resource. */
export const RESOURCE_USERS = ['campaign', 'inbound-webhook', 'message'] as const;
export type ResourceUser = (typeof RESOURCE_USERS)[number];

/** A resource, by our id, and what uses it. */
export interface ResourceUse {
  readonly id: string;
  readonly usedBy: readonly ResourceUser[];
}

/** Those of the ids that something uses, in the order of `ids`. */
export function resourcesInUse(
  ids: readonly string[],
  used: Readonly<Record<ResourceUser, ReadonlySet<string>>>,
): readonly ResourceUse[] {
  return ids.flatMap((id) => {
    const usedBy = RESOURCE_USERS.filter((user) => used[user].has(id));
    return usedBy.length === 0 ? [] : [{ id, usedBy }];
  });
}

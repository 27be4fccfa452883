import type { ProjectSettings } from './project.ts';

/** The allow list guards the resources endpoint (specification 5.4), or every endpoint. */
export type GuardedEndpoint = 'resources' | 'other';

/** Whether an address is one of the entries of a list, or inside one of its ranges. */
export type AddressMatcher = (entries: readonly string[], address: string) => boolean;

/**
 * Whether a caller at this address may use the endpoint. An empty list allows every caller; any other list rejects a
 * caller without an address.
 */
export function isAddressAllowed(
  { allowedIps, ipRuleScope }: Pick<ProjectSettings, 'allowedIps' | 'ipRuleScope'>,
  endpoint: GuardedEndpoint,
  address: string | undefined,
  matches: AddressMatcher,
): boolean {
  if (allowedIps.length === 0) return true;
  if (ipRuleScope === 'resources' && endpoint !== 'resources') return true;
  return address !== undefined && matches(allowedIps, address);
}

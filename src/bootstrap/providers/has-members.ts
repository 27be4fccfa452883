import { isJsonObject } from '../../domain/shared/same-json.ts';

/** When a rule about several settings is checked: also when others have mistakes, so that all are told at once. */
export function hasMembers({ value }: { readonly value: unknown }): boolean {
  return isJsonObject(value);
}

/** When a rule about several settings is checked: also when others have mistakes, so that all are told at once. */
export function hasMembers({ value }: { readonly value: unknown }): boolean {
  return typeof value === 'object' && value !== null;
}

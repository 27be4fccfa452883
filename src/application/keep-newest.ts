/** Removes from a map or a set the entries that were added first, until no more than `max` are left. */
export function keepNewest<Key>(all: Map<Key, unknown> | Set<Key>, max: number): void {
  for (const oldest of all.keys()) {
    if (all.size <= max) return;
    all.delete(oldest);
  }
}

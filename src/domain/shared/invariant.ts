/**
 * Stops the program's own mistakes: a broken invariant aborts the unit of work it happens in.
 * Never used for what a caller sent; that is refused with data, not thrown.
 */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

/**
 * Throws when the program itself is wrong, which undoes the unit of work. What a caller sent is never checked with it:
 * that is rejected with data.
 */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

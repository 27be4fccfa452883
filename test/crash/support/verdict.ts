/** Prints the violations and the summary. The program ends with exit code 1 when there are violations. */
export function conclude(violations: readonly string[], summary: string, kept: string): void {
  for (const violation of violations) console.log(`VIOLATION  ${violation}`);
  console.log(summary);
  if (violations.length > 0) console.log(`Kept for you to read: ${kept}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}

/** A run in which no message was acknowledged proves nothing. */
export function assertAcknowledged(acknowledged: ReadonlySet<string>): void {
  if (acknowledged.size === 0) throw new Error('No message was acknowledged');
}

/** `ok`, or how many violations there are. */
export function verdictOf(violations: readonly string[]): string {
  return violations.length === 0 ? 'ok' : `${violations.length} VIOLATIONS`;
}

/** What was thrown, with its stack. */
export function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

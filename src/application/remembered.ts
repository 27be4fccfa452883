/**
 * The same function with a memory for at most `max` results; one more empties it. An argument is known by `===`. What was thrown
 * is not remembered.
 */
export function remembered<Argument, Result extends NonNullable<unknown> | null>(
  max: number,
  resultOf: (argument: Argument) => Result,
): (argument: Argument) => Result {
  const known = new Map<Argument, Result>();
  return (argument) => {
    const before = known.get(argument);
    if (before !== undefined) return before;
    const result = resultOf(argument);
    if (known.size >= max) known.clear();
    known.set(argument, result);
    return result;
  };
}

import type { ProviderEvent, ProviderEventSink } from '../../application/ports/provider-events.ts';

interface Recorded {
  /** Whether each event is recorded, in their order. */
  readonly recorded: readonly boolean[];
  /** Why the others are not. */
  readonly failures: readonly unknown[];
}

/**
 * Hands events to the sink, all at once. When that fails, each by itself, so that an event that cannot be recorded does not keep
 * others from being recorded. Never rejects.
 */
export async function recordEach(
  events: readonly ProviderEvent[],
  sink: ProviderEventSink,
): Promise<Recorded> {
  const [whole] = await Promise.allSettled([sink(events)]);
  const isOver = whole.status === 'fulfilled' || events.length === 1;
  const outcomes = isOver
    ? events.map(() => whole)
    : await Promise.allSettled(events.map((event) => sink([event])));
  return {
    recorded: outcomes.map(({ status }) => status === 'fulfilled'),
    failures: outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])),
  };
}

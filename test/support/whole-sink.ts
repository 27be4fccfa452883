import type { ProviderEvent, ProviderEventSink } from '../../src/application/ports/provider-events.ts';

/** A sink that records all events of a call or none, as `record` does. */
export function wholeSink(record: (events: readonly ProviderEvent[]) => Promise<void>): ProviderEventSink {
  return async (events, settled) => {
    if (settled === undefined) return record(events);
    const failure: unknown = await record(events).then(
      () => null,
      (error) => error,
    );
    for (const index of events.keys()) settled(index, failure);
  };
}

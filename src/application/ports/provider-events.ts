import type { InboundArrival, SubmissionReceipt } from './channel-provider.ts';

/** What carriers bring: a report about an attempt, or a message somebody wrote. */
export type ProviderEvent =
  | { readonly kind: 'receipt'; readonly receipt: SubmissionReceipt }
  | { readonly kind: 'inbound'; readonly arrival: InboundArrival };

/** A carrier inside the process, whose news comes due by the clock instead of arriving over a network. */
export interface ProviderEventSource {
  /** Takes the news due at `now` (milliseconds since 1970), the oldest first. */
  takeDue(now: number): readonly ProviderEvent[];
  /** Takes back what could not be recorded; it is due again at `dueAt`. */
  putBack(news: readonly ProviderEvent[], dueAt: number): void;
  /** When the next news is due, or null when none is expected. */
  nextDueAt(): number | null;
}

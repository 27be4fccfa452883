import type { InboundArrival, Receipt } from './channel-provider.ts';

/** What carriers bring: a report about an attempt, or a message somebody wrote. */
export type CarrierNews =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'inbound'; readonly arrival: InboundArrival };

/** A carrier inside the process, whose news comes due by the clock instead of arriving over a network. */
export interface CarrierNewsSource {
  /** Takes the news due at `now` (milliseconds since 1970), the oldest first. */
  takeDue(now: number): readonly CarrierNews[];
  /** Takes back what could not be recorded; it is due again at `dueAt`. */
  putBack(news: readonly CarrierNews[], dueAt: number): void;
  /** When the next news is due, or null when none is expected. */
  nextDueAt(): number | null;
}

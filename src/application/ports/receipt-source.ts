import type { Receipt } from './channel-provider.ts';

/** A carrier inside the process, whose receipts come due by the clock instead of arriving over a network. */
export interface ReceiptSource {
  /** Takes the receipts due at `now` (milliseconds since 1970), the oldest first. */
  takeDue(now: number): readonly Receipt[];
  /** When the next receipt is due, or null when none is expected. */
  nextDueAt(): number | null;
}

/** What is computed of one peer's bytes, TLS and HTTP: one piece after the other. */
export interface PeerWork {
  /** Whether the next piece waits while its owner is in debt. */
  readonly waitsForDebt: boolean;
  /** Whether there is a piece to compute now. Work without one is run again when there is. */
  readonly isReady: boolean;
  /** Computes one piece. */
  compute(): void;
  /** Counts what that took, in milliseconds. Returns how much of it the owner owes. */
  spend(ms: number): number;
}

/** How much of the event loop's time peers get that cost much. */
export interface PeerShares {
  /** Debts of one owner are repaid in this share of the time. */
  readonly owner: number;
  /** Debts of all owners together are repaid in this share. */
  readonly all: number;
  /** The free time of one owner: the most of it in milliseconds, and the share of the time that fills it. */
  readonly freeMsMax: number;
  readonly free: number;
}

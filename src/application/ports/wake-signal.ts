/** Tells the work loop that work was committed, so that it does not wait for its next poll. */
export interface WakeSignal {
  /** Returns at once; may be called any number of times. A lost call costs time, never work. */
  wake(): void;
}

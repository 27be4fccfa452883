/** Says that work was committed, so that nobody has to wait for the next look at the clock. */
export interface WakeSignal {
  /** Returns at once; may be called any number of times. Losing a call costs time, never work. */
  wake(): void;
}

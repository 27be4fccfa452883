/** The only source of time. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

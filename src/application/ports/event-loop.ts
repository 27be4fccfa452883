/** The event loop of the process, for work that has to leave time to others. */
export interface EventLoop {
  /** How long it has been busy so far, in milliseconds. Never goes back. */
  busyMs(): number;
  /** Resolves after so many milliseconds. */
  pause(ms: number): Promise<void>;
}

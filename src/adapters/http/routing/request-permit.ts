/** Lets a request be one of those that the process serves at a time: in all, of its address and of its project. */
export interface RequestPermit {
  /** The address of the client. */
  readonly address: string | undefined;
  /** What that address counts as in limits by address. */
  readonly network: string;
  /** Whose request it is; null until it is claimed for a project. */
  readonly projectId: string | null;
  /**
   * Counts the request as one of the project, once; it was admitted with the key. Throws `RequestRejected` with 503 when the
   * project has as many as it may.
   */
  claimFor(projectId: string, apiKey: string | null): void;
  /** The request waits for its caller. Meanwhile it counts for its address and its project only. */
  suspend(): void;
  /** The request is served again. Throws `RequestRejected` with 503 when the process has become full meanwhile. */
  resume(): void;
  /** Resolves when a body of this length may be parsed and checked, in fair rounds; null when that is now. */
  waitToParse(bytes: number): Promise<void> | null;
  /**
   * Resolves when a round of the event loop has time for a request that a gate has let through, in fair rounds; null when that is
   * now.
   */
  waitForRound(): Promise<void> | null;
  /**
   * Runs the work as soon as the project gate lets it through: a few requests of each project and of all at a time, by project in
   * rotation. At once for a caller without a project.
   */
  throughProjectGate<Result>(work: () => Promise<Result>): Promise<Result>;
}

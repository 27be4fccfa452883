/** The place of a request among those that the process serves at a time. */
export interface Place {
  /** The address of the client. */
  readonly address: string | undefined;
  /** What that address counts as in limits by address. */
  readonly network: string;
  /** The request waits for its caller, and is not counted meanwhile. */
  leave(): void;
  /** The request is served again. Throws `RequestRejected` with 503 when the process has become full meanwhile. */
  comeBack(): void;
}

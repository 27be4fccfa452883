/** A request whose reply has begun to go out. It carries no body, no header but `traceparent`, no query and no address. */
export interface ServedRequest {
  readonly method: string;
  /** The declared path, with its parameters as names; null when the request matched none. */
  readonly route: string | null;
  readonly status: number;
  /** The word in X-Error-Code; null without one. */
  readonly code: string | null;
  /** From the head of the request to the head of the reply, in milliseconds. */
  readonly durationMs: number;
  readonly requestId: string;
  /** Null while no key was checked, and for operators. */
  readonly projectId: string | null;
  /** Whether it failed by a fault of ours, which is in the log already. */
  readonly isFault: boolean;
  /** The caller's W3C trace context as it came; null without one. */
  readonly traceparent: string | null;
}

/** Is told of each reply. Called on the path of the request: it must neither wait nor throw. */
export interface RequestObserver {
  served(request: ServedRequest): void;
}

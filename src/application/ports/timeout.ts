/** Calls `expired` once a fixed time has passed by the process clock. The function it returns cancels the call. */
export type Timeout = (expired: () => void) => () => void;

/** Calls `over` once, after a short fixed time. Unlike a `Timeout` it cannot be cancelled; tests replace it. */
export type Delay = (over: () => void) => void;

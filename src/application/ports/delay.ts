/** Calls `over` once, after a short fixed time. It collects work that is cheaper done together; tests replace it. */
export type Delay = (over: () => void) => void;

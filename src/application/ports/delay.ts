/** Calls `over` once, a short while later, for letting things come together that are cheaper together. */
export type Delay = (over: () => void) => void;

/** How many of something there were in the period of the last one, and in the period before. */
export interface RecentCount {
  /** As `periodAt` numbers them. */
  readonly period: number;
  readonly count: number;
  readonly before: number;
}

export const NONE_LATELY: RecentCount = { period: 0, count: 0, before: 0 };

/** The number of the period of `periodMs` milliseconds that is running at `now`. */
export function periodAt(now: number, periodMs: number): number {
  return Math.floor(now / periodMs);
}

/** With one more in the period. */
export function withOneMore({ period, count, before }: RecentCount, current: number): RecentCount {
  if (current === period) return { period, count: count + 1, before };
  return { period: current, count: 1, before: current === period + 1 ? count : 0 };
}

/** How many there were in the last whole period, or in the current one when that is more. */
export function countLately({ period, count, before }: RecentCount, current: number): number {
  if (current === period) return Math.max(count, before);
  return current === period + 1 ? count : 0;
}

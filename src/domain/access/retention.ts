import { millisecondsInDay } from 'date-fns/constants';

export const RETENTION_ACTIONS = ['anonymise', 'remove'] as const;
export type RetentionAction = (typeof RETENTION_ACTIONS)[number];

/** How long a project keeps its messages, and what happens to them then; a project setting. */
export interface Retention {
  readonly days: number;
  readonly action: RetentionAction;
}

/** Longer than the longest window of a rate limit, so that a number counts for as long as it has to. */
export const RETENTION_DAYS_MIN = 8;
/** Ten years. */
export const RETENTION_DAYS_MAX = 3_650;

/** What was created before this instant is due. Milliseconds since 1970. */
export function keptSince({ days }: Retention, now: number): number {
  return now - days * millisecondsInDay;
}

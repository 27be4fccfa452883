import { millisecondsInDay, millisecondsInMinute } from 'date-fns/constants';

/** The endpoint of one project that its events go to. */
export interface WebhookDestination {
  readonly projectId: string;
  readonly endpoint: string;
}

/** Names a destination among all of them. */
export function destinationKey({ projectId, endpoint }: WebhookDestination): string {
  return `${projectId}/${endpoint}`;
}

/** The destination that `destinationKey` named: no id of a project has a slash. */
export function destinationOfKey(key: string): WebhookDestination {
  const end = key.indexOf('/');
  return { projectId: key.slice(0, end), endpoint: key.slice(end + 1) };
}

/**
 * How long the circuit of a destination is open: the first time, the second time, and so on. An event that has to wait stays
 * due, and is never dropped (specification 6.1).
 */
export const DESTINATION_OPEN_WINDOWS_MS: readonly number[] = [1, 5, 15, 60].map(
  (minutes) => minutes * millisecondsInMinute,
);

/** After how long without attempts a breaker may be forgotten, in milliseconds: longer than any circuit is open. */
export const BREAKER_LIFETIME_MS = millisecondsInDay;

import type { Project } from '../access/project.ts';

/**
 * The key under which the sending rate of a number and the daily limit of a portfolio are counted. `resourceId` is our id of the
 * number, or the platform's id of the portfolio. Live projects that have one number or portfolio count together, as the platform
 * counts. A dev project counts by itself: the simulator carries its messages, and its resources may be made up.
 */
export function limitKey(
  { id, environment }: Pick<Project, 'id' | 'environment'>,
  resourceId: string,
): string {
  return environment === 'live' ? resourceId : `${id}/${resourceId}`;
}

/**
 * Through what an operator made a change: the admin interface itself, the command line with the token, or a command on the
 * database, which needs no token. `system` is the service itself.
 */
export const ACTORS = ['operator', 'cli', 'cli-database', 'system'] as const;
export type Actor = (typeof ACTORS)[number];

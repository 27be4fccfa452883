/*
 * Exit codes of the service and of its commands; the program prints the reason. Those above 2 are of sysexits.h, which
 * service managers know.
 */

/** The command could not do it, or found something wrong. */
export const EXIT_NOT_DONE = 1;

/** A command was called with words it does not know, or without its token or key. */
export const EXIT_USAGE = 2;

/** The database or the service cannot be reached or used, or the database has no tables of the service. */
export const EXIT_UNAVAILABLE = 69;

/** The configuration cannot be used as it is. */
export const EXIT_CONFIGURATION = 78;

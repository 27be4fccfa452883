/*
 * Exit codes of a program that could not start; it prints the reason. The numbers are those of sysexits.h, which
 * service managers know.
 */

/** The configuration cannot be used as it is. */
export const EXIT_CONFIGURATION = 78;

/** The database cannot be reached, or has no tables of the service. */
export const EXIT_UNAVAILABLE = 69;

/** A command was called with words it does not know; it prints those it does. */
export const EXIT_USAGE = 2;

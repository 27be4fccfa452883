/*
 * How a program ends that could not do what it was started for; it says why on a line. The numbers are those of
 * sysexits.h, which service managers know.
 */

/** The configuration cannot be used as it is. */
export const EXIT_CONFIGURATION = 78;

/** The database is away, or not one that the service was ever started on. */
export const EXIT_UNAVAILABLE = 69;

// @ts-check
// Plain JavaScript: threads are started from files that import this one, from the sources and from the build.

/** The numbers that the threads of a SQLite file share. */
export const STOPPING = 0;
export const READS = 1;
export const SHARED_NUMBERS = 2;

/** The states of reads: while the log is emptied or begun anew, no new one begins. */
export const RUNNING = 0;
export const PAUSED = 1;

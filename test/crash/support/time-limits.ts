const MS_PER_HOUR = 3_600_000;

/** Work left over is due within this time. Only receipt windows are later: they are 24 hours away and more. */
export const WORK_DUE_WITHIN_MS = MS_PER_HOUR;

/** Later than every receipt window (72 hours). */
export const PAST_RECEIPT_WINDOWS_MS = 73 * MS_PER_HOUR;

/** So much later, too, all that waits once more because its receipt window ended late is over. */
export const PAST_LATE_WINDOWS_MS = 74 * MS_PER_HOUR;

/** Jobs leased by a killed process come due again when the lease is over, and have to be done then. */
export const WORK_TIMEOUT_MS = 90_000;

/** Time for everything that receipt windows set off. */
export const QUIET_TIMEOUT_MS = 90_000;

/** Later than the due time of every job. */
export const END_OF_TIME_MS = Number.MAX_SAFE_INTEGER;

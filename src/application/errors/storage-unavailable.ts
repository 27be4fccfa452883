import { messageOf } from './error-text.ts';

/**
 * The database could not be reached, was lost during a unit of work, or could not do what it was asked: it was too slow, or had
 * no memory left. Nothing is wrong with what was to be stored: the same may succeed later. Whether a unit of work that had
 * begun took effect is not known.
 */
export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.name = 'StorageUnavailable';
  }
}

/**
 * The database could not be reached, the connection to it was lost, or another process has the lock of all of it: a unit of work
 * with fewer items would end alike.
 */
export class StorageAway extends StorageUnavailable {
  constructor(cause: unknown) {
    super(cause);
    this.name = 'StorageAway';
  }
}

/**
 * The database responds and stores nothing: its disk is full, or fails, or it is read-only. What it holds can still be read,
 * unless a sync of SQLite failed.
 */
export class StorageUnwritable extends StorageUnavailable {
  /** What an operator has to mend, in words of ours: `the disk is full`. */
  readonly reason: string;

  constructor(reason: string, cause: unknown) {
    super(cause);
    this.name = 'StorageUnwritable';
    this.reason = reason;
  }
}

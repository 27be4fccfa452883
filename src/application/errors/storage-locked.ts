import { messageOf } from './error-text.ts';

/**
 * A unit of work waited for the lock of a row for as long as it may, or met other transactions each time it was repeated, and
 * stored nothing. Others that do not need the row succeed meanwhile.
 */
export class StorageLocked extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.name = 'StorageLocked';
  }
}

/** What is told to the caller of an item that does not wait for a lock of its project. */
export function projectLocked(): StorageLocked {
  return new StorageLocked('A row of the project is locked');
}

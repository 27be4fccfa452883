/**
 * A unit of work waited for the lock of a row for as long as it may, and stored nothing. Others that do not need the row
 * succeed meanwhile.
 */
export class StorageLocked extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message || cause.name : String(cause), { cause });
    this.name = 'StorageLocked';
  }
}

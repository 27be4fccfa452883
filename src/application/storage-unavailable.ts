/**
 * The database could not be reached, or was lost during a unit of work: no statement is to blame, and any other would fail
 * alike. Whether a unit of work that had begun took effect is not known.
 */
export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message || cause.name : String(cause), { cause });
    this.name = 'StorageUnavailable';
  }
}

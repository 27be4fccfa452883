/**
 * The database could not be reached, or was lost on the way: nothing that was asked of it is to blame, and the
 * same would happen to anything else. Whether a unit of work that had begun took effect is not known.
 */
export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message || cause.name : String(cause), { cause });
    this.name = 'StorageUnavailable';
  }
}

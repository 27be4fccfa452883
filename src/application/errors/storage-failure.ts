import { StorageLocked } from './storage-locked.ts';
import { StorageUnavailable } from './storage-unavailable.ts';

/** The database is away, could not do it, or a row is locked: nothing is wrong with what was asked. */
export type StorageFailure = StorageUnavailable | StorageLocked;

export function isStorageFailure(error: unknown): error is StorageFailure {
  return error instanceof StorageUnavailable || error instanceof StorageLocked;
}

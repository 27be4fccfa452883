import { ERROR_CODE_MEANINGS, type ErrorCode } from './error-codes.ts';

/** What X-Error-Code can hold in the admin interface only, by status. The table of docs/admin.md says the same. */
const MEANINGS = {
  'project-not-found': 'no project has this id or slug',
  'key-not-found': 'no key of the project has this id',
  'slug-taken': 'another project has this slug',
  'project-archived': 'a new key for an archived project',
  'key-not-working': 'a rotation of a key that is revoked or has ended',
  'too-many-keys': 'the project has 100 keys that work',
  'balance-below-holds': 'a correction that leaves less than is held',
} as const;

/** The codes of the customers' interface that an operator can get too. */
const SHARED = [
  'validation-failed',
  'malformed-json',
  'invalid-encoding',
  'nested-too-deep',
  'invalid-idempotency-key',
  'unknown-fields',
  'malformed-request',
  'unauthorized',
  'not-found',
  'method-not-allowed',
  'request-timeout',
  'idempotency-conflict',
  'body-too-large',
  'unsupported-media-type',
  'expectation-failed',
  'headers-too-large',
  'internal-error',
  'overloaded',
] as const satisfies readonly ErrorCode[];

export type AdminErrorCode = keyof typeof MEANINGS;

/** The codes that the admin interface adds. */
export const ADMIN_ERROR_CODE_MEANINGS: Readonly<Record<AdminErrorCode, string>> = MEANINGS;

/** Every code of the admin interface with its meaning. */
export const OPERATOR_ERROR_CODE_MEANINGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SHARED.map((code) => [code, ERROR_CODE_MEANINGS[code]])),
  ...MEANINGS,
};

import type { RejectionClass } from '../../domain/providers/rejection-class.ts';
import { rejectedAs, type SubmitResult } from '../../domain/providers/submit-result.ts';

/** What an error says. `already-sent`: a message of this request went out before. */
export type ErrorClass = RejectionClass | 'already-sent';

/** Telegram does not take the token. */
export const CREDENTIALS_CODES: ReadonlySet<string> = new Set([
  'ACCESS_TOKEN_INVALID',
  'ACCESS_TOKEN_REQUIRED',
]);

/** Telegram publishes one code only, `ACCESS_TOKEN_INVALID`: the others are those that were seen. */
const CLASSES: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>([
  ['ACCESS_TOKEN_INVALID', 'busy'],
  ['ACCESS_TOKEN_REQUIRED', 'busy'],
  ['BALANCE_NOT_ENOUGH', 'busy'],
  ['CALLBACK_URL_INVALID', 'busy'],
  ['UNKNOWN_METHOD', 'busy'],
  ['HTTP_401', 'busy'],
  ['HTTP_403', 'busy'],
  ['HTTP_404', 'busy'],
  ['HTTP_429', 'throttled'],
  ['SENDER_USERNAME_INVALID', 'sender'],
  ['SENDER_NOT_VERIFIED', 'sender'],
  ['SENDER_NOT_OWNED', 'sender'],
  ['CODE_INVALID', 'message'],
  ['PHONE_NUMBER_INVALID', 'message'],
  ['PHONE_NUMBER_MISMATCH', 'message'],
  ['PHONE_NUMBER_NOT_AVAILABLE', 'message'],
  ['PHONE_NUMBER_NOT_FOUND', 'message'],
  ['PAYLOAD_INVALID', 'message'],
  ['REQUEST_ID_INVALID', 'message'],
  ['TTL_INVALID', 'message'],
  ['MESSAGE_ALREADY_SENT', 'already-sent'],
]);

/** `FLOOD_WAIT_30`: Telegram takes no more for 30 seconds. */
const FLOOD_PATTERN = /^FLOOD_WAIT(?:_[0-9]+)?$/;

/** The class of an error by its code; a code that is not known is about the message. */
export function errorClass(code: string): ErrorClass {
  return knownClass(code) ?? 'message';
}

/** Whether the class of an error with this code is known. */
export function isKnownError(code: string): boolean {
  return knownClass(code) !== undefined;
}

function knownClass(code: string): ErrorClass | undefined {
  return FLOOD_PATTERN.test(code) ? 'throttled' : CLASSES.get(code);
}

/** The result of a request that Telegram rejects with a code. */
export function rejectedBy(code: string): SubmitResult {
  const kind = errorClass(code);
  return rejectedAs(kind === 'already-sent' ? 'message' : kind, `Telegram responded with ${code}`);
}

import type { RejectionClass } from '../providers/rejection-class.ts';

const TOKEN_CODES: readonly number[] = [0, 3, 102, 190];
/** Beside the range below. */
const PERMISSION_CODES: readonly number[] = [10, 131005];

const CODES: Readonly<Record<RejectionClass, readonly number[]>> = {
  busy: [
    // The token.
    ...TOKEN_CODES,
    // Unknown, unavailable.
    1,
    2,
    131000,
    131016,
    133004,
  ],
  // Rates of the app, of the account and of the number.
  throttled: [4, 17, 613, 80007, 130429],
  // The account in maintenance; a flow that is throttled.
  limited: [131057, 132069],
  sender: [
    // The permission for this account.
    ...PERMISSION_CODES,
    // The account or the number: blocked, locked, not paid for, not registered, gone, without an approved name.
    33,
    368,
    131031,
    131037,
    131042,
    131045,
    131048,
    133010,
    // The template: missing or not approved, paused, disabled, with a flow that is blocked.
    132001,
    132015,
    132016,
    132068,
  ],
  message: [
    // The recipient: without whatsapp, outside the window, held back, in an experiment, in a country that is closed to us.
    130472,
    130497, 131021, 131026, 131030, 131047, 131049, 131056,
    // The request and its parameters.
    100, 131008, 131009, 131051, 131052, 131053, 132000, 132005, 132007, 132012, 132018,
  ],
  // The customer stopped marketing messages.
  'ends-chain': [131050],
};

const CLASSES: ReadonlyMap<number, RejectionClass> = new Map(
  (Object.keys(CODES) as RejectionClass[]).flatMap((name) => CODES[name].map((code) => [code, name])),
);

const PERMISSION_CODE_MIN = 200;
const PERMISSION_CODE_MAX = 299;

/** Too many messages to one recipient at once. The same message is taken a few seconds later, so what can wait is not lost. */
const PAIR_RATE_CODE = 131056;

/** "Something went wrong": with a server error, Meta may have taken the message. */
const VAGUE_CODE = 1;

/**
 * The class of an error code; `message` for one that this version does not know. A verification code cannot wait for the rate
 * of its recipient, any other message can.
 */
export function cloudApiErrorClass(code: number, isVerification: boolean): RejectionClass {
  if (isPermissionCode(code)) return 'sender';
  if (code === PAIR_RATE_CODE && !isVerification) return 'limited';
  return CLASSES.get(code) ?? 'message';
}

/** Whether the access token, or its permissions, have to be replaced. */
export function isCredentialsError(code: number): boolean {
  return TOKEN_CODES.includes(code) || isPermissionCode(code);
}

/** Whether the code says that the message was not taken, whatever status it came with. */
export function saysNotTaken(code: number): boolean {
  return code !== VAGUE_CODE && isKnownCode(code);
}

/** Whether the class of an error with this code is known. */
export function isKnownCode(code: number): boolean {
  return CLASSES.has(code) || isPermissionCode(code);
}

function isPermissionCode(code: number): boolean {
  if (PERMISSION_CODES.includes(code)) return true;
  return code >= PERMISSION_CODE_MIN && code <= PERMISSION_CODE_MAX;
}

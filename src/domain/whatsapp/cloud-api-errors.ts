/**
 * What an error of Meta's Cloud API means for a message. `busy`: nothing is taken for now. `limited`: no more for now from this
 * account or number, or to this recipient. `sender`: nothing can be sent from this number or with this template until somebody
 * acts. `message`: this message or recipient. `ends-chain`: the customer does not want it, so no other channel may carry it
 * either.
 */
export type CloudApiErrorClass = 'busy' | 'limited' | 'sender' | 'message' | 'ends-chain';

const CODES: Readonly<Record<CloudApiErrorClass, readonly number[]>> = {
  busy: [
    // The token.
    0, 3, 102, 190,
    // Rates of the app.
    4, 17, 613,
    // Unknown, unavailable, in maintenance.
    1, 2, 131000, 131016, 131057, 133004,
  ],
  // Rates of the account and of the number; a flow that is throttled.
  limited: [80007, 130429, 132069],
  sender: [
    // The permission for this account, beside the range below.
    10, 131005,
    // The account or the number: blocked, locked, not paid for, not registered, gone, without an approved name.
    33,
    368, 131031, 131037, 131042, 131045, 131048, 133010,
    // The template: missing or not approved, paused, disabled, with a flow that is blocked.
    132001, 132015, 132016, 132068,
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

const CLASSES: ReadonlyMap<number, CloudApiErrorClass> = new Map(
  (Object.keys(CODES) as CloudApiErrorClass[]).flatMap((name) => CODES[name].map((code) => [code, name])),
);

const CREDENTIAL_CODES: ReadonlySet<number> = new Set([0, 3, 10, 102, 190, 131005]);
const PERMISSION_CODE_MIN = 200;
const PERMISSION_CODE_MAX = 299;

/** Too many messages to one recipient at once: a few seconds later the same message is taken. */
const PAIR_RATE_CODE = 131056;

/** "Something went wrong": with a server error, Meta may have taken the message. */
const VAGUE_CODE = 1;

/**
 * The class of an error code; `message` for one that this version does not know. A verification code cannot wait for the rate
 * of its recipient, any other message can.
 */
export function cloudApiErrorClass(code: number, isVerification: boolean): CloudApiErrorClass {
  if (isPermissionCode(code)) return 'sender';
  if (code === PAIR_RATE_CODE && !isVerification) return 'limited';
  return CLASSES.get(code) ?? 'message';
}

/** Whether the access token, or its permissions, have to be replaced. */
export function isCredentialsError(code: number): boolean {
  return CREDENTIAL_CODES.has(code) || isPermissionCode(code);
}

/** Whether the code says that the message was not taken, whatever status it came with. */
export function saysNotTaken(code: number): boolean {
  return code !== VAGUE_CODE && (CLASSES.has(code) || isPermissionCode(code));
}

function isPermissionCode(code: number): boolean {
  return code >= PERMISSION_CODE_MIN && code <= PERMISSION_CODE_MAX;
}

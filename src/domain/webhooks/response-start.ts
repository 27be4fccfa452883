import { toStorableLines } from '../shared/storable-text.ts';

/** How many bytes of the body of a response are stored with its attempt. */
export const RESPONSE_START_BYTES_MAX = 1_024;
const utf8 = new TextDecoder();

/**
 * The first bytes of a response as text that every database can store: lines and tabs stay, other control characters become
 * spaces.
 */
export function responseStart(bytes: Uint8Array): string {
  return toStorableLines(utf8.decode(bytes.subarray(0, RESPONSE_START_BYTES_MAX)));
}

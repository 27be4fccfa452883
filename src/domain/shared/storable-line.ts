/** NUL, control characters and halves of surrogate pairs: no two databases keep them alike. */
const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;

/** Whether a text of one line holds only characters that every database returns unchanged. */
export function isStorableLine(text: string): boolean {
  return !UNSTORABLE.test(text);
}

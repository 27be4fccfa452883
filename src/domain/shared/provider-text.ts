import { cutText, toStorableLine } from './storable-text.ts';

/** The longest text of a provider that is stored, in UTF-16 units. */
const PROVIDER_TEXT_CHARACTERS_MAX = 500;

/** Most texts are ASCII, and this tells sooner than the Unicode classes below. */
const PLAIN = new RegExp(`^[ -~]{0,${PROVIDER_TEXT_CHARACTERS_MAX}}$`);

/**
 * A provider's text as every database can store it: control characters and lone surrogates become spaces, and a text
 * that is too long is cut between characters. Idempotent.
 */
export function providerText(text: string): string {
  if (PLAIN.test(text)) return text;
  // The one unit more tells a pair at the end from half of one.
  return cutText(
    toStorableLine(text.slice(0, PROVIDER_TEXT_CHARACTERS_MAX + 1)),
    PROVIDER_TEXT_CHARACTERS_MAX,
  );
}

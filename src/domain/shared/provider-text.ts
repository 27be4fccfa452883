/** What carriers say about a failure is kept up to this length, in UTF-16 units. */
export const PROVIDER_TEXT_CHARACTERS_MAX = 500;

/**
 * A carrier's words as any database keeps them: control characters and halves of surrogate pairs become
 * spaces, and what is too long is cut between characters. Done again it changes nothing.
 */
export function providerText(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cs}]/gu, ' ');
  return clean.slice(0, PROVIDER_TEXT_CHARACTERS_MAX).replace(/[\uD800-\uDBFF]$/, '');
}

import type { CompletionPlace, CompletionWord } from './completion-places.ts';

/** The words between spaces. */
export function wordsOf(words: readonly CompletionWord[]): string {
  return words.map(({ word }) => word).join(' ');
}

/** A pattern of `case` that every option with a value matches. */
export function patternOf(places: readonly CompletionPlace[]): string {
  return [...new Set(places.flatMap(({ optionsWithValue }) => optionsWithValue))].join('|');
}

/** A pattern of `case` that the path of every command matches. */
export function pathsOf(places: readonly CompletionPlace[]): string {
  return places.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`])).join('|');
}

/** A text between single quotes, for bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

import type { CompletionPlace, CompletionWord } from './completion-places.ts';
import { pathsOf, patternOf, quoted } from './shell-words.ts';

/** A script for zsh, with descriptions. Values of options and arguments are completed as file names. */
export function zshCompletion(places: readonly CompletionPlace[]): string {
  const branches = places.map(
    ({ path, words, options }) =>
      `    ('${path}') words_here=(${described(words)}) options_here=(${described(options)}) ;;`,
  );
  return `#compdef barid
_barid() {
  local place='' word takes_value=''
  local -a words_here options_here
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $takes_value ]]; then takes_value=''; continue; fi
    case "$word" in
      (${patternOf(places)}) takes_value=1; continue ;;
    esac
    case "\${place:+$place }$word" in
      (${pathsOf(places)}) place="\${place:+$place }$word" ;;
    esac
  done
  if [[ -n $takes_value ]]; then _files; return; fi
  case "$place" in
${branches.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options_here
  elif (( \${#words_here} )); then
    _describe command words_here
  else
    _files
  fi
}
compdef _barid barid
`;
}

/** A colon ends the word. */
function described(words: readonly CompletionWord[]): string {
  return words
    .map(({ word, description }) => quoted(`${word.replaceAll(':', String.raw`\:`)}:${description}`))
    .join(' ');
}

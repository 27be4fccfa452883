import type { CompletionPlace } from './completion-places.ts';
import { pathsOf, patternOf, wordsOf } from './shell-words.ts';

/** A script for bash 4 and later. Values of options and arguments are completed as file names. */
export function bashCompletion(places: readonly CompletionPlace[]): string {
  const branches = places.map(
    ({ path, words, options }) => `    '${path}') words='${wordsOf(words)}' options='${wordsOf(options)}' ;;`,
  );
  return `_barid() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' words='' options='' word i takes_value=''
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $takes_value ]]; then takes_value=''; continue; fi
    case "$word" in
      ${patternOf(places)}) takes_value=1; continue ;;
    esac
    case "\${path:+$path }$word" in
      ${pathsOf(places)}) path="\${path:+$path }$word" ;;
    esac
  done
  [[ -n $takes_value ]] && return
  case "$path" in
${branches.join('\n')}
  esac
  [[ $current == -* ]] && words="$options"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _barid barid
`;
}

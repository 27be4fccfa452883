import type { CompletionPlace } from './completion-places.ts';

/** A script for fish, with descriptions. */
export function fishCompletion(places: readonly CompletionPlace[]): string {
  const paths = places.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' ');
  const valued = [...new Set(places.flatMap(({ optionsWithValue }) => optionsWithValue))].join(' ');
  const lines = places.flatMap(({ path, words, options, optionsWithValue }) => {
    const at = `complete -c barid -n ${quoted(`__barid_at ${quoted(path)}`)}`;
    return [
      ...words.map(({ word, description }) => `${at} -f -a ${quoted(word)} -d ${quoted(description)}`),
      ...options.map(({ word, description }) => {
        const value = optionsWithValue.includes(word) ? ' -r' : '';
        return `${at} -l ${word.slice(2)}${value} -d ${quoted(description)}`;
      }),
    ];
  });
  return `function __barid_at
  set -l place
  set -l takes_value
  for word in (commandline -opc)[2..-1]
    if set -q takes_value[1]
      set -e takes_value
      set -l takes_value
      continue
    end
    if contains -- $word ${valued}
      set takes_value 1
      continue
    end
    set -l next (string join ' ' $place $word)
    if contains -- $next ${paths}
      set place $next
    end
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`;
}

/** Between single quotes fish knows two escapes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}

import type { Command } from 'commander';

/** A word that may come next, and what it does. */
export interface CompletionWord {
  readonly word: string;
  readonly description: string;
}

/** What may follow the words of a command. */
export interface CompletionPlace {
  /** The words behind `barid`: empty, `admin`, `admin keys`. */
  readonly path: string;
  /** Commands of a group, or the choices of an argument. */
  readonly words: readonly CompletionWord[];
  readonly options: readonly CompletionWord[];
  /** Those of `options` that a value follows. */
  readonly optionsWithValue: readonly string[];
}

/** Every place of the program, groups before their commands. */
export function completionPlaces(program: Command): readonly CompletionPlace[] {
  return placesOf(program, [], []);
}

function placesOf(
  command: Command,
  path: readonly string[],
  inherited: readonly Command[],
): readonly CompletionPlace[] {
  const options = [command, ...inherited].flatMap((owner) =>
    owner.options.filter(({ long }) => owner === command || long !== '--version'),
  );
  const help = { word: '--help', description: 'say what a command takes' };
  const place: CompletionPlace = {
    path: path.join(' '),
    words: [...command.commands.map(wordOf), ...choicesOf(command)],
    options: [
      ...options.flatMap(({ long, description }) => (long ? [{ word: long, description }] : [])),
      help,
    ],
    optionsWithValue: options.flatMap(({ long, required, optional }) =>
      long && (required || optional) ? [long] : [],
    ),
  };
  return [
    place,
    ...command.commands.flatMap((child) => placesOf(child, [...path, child.name()], [command, ...inherited])),
  ];
}

function wordOf(command: Command): CompletionWord {
  return { word: command.name(), description: command.summary() || command.description() };
}

function choicesOf({ registeredArguments: [first] }: Command): readonly CompletionWord[] {
  return (first?.argChoices ?? []).map((word) => ({ word, description: first?.description ?? '' }));
}

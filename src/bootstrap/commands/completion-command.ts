import { Argument, type Command } from 'commander';
import { bashCompletion } from './completion/bash-completion.ts';
import { completionPlaces } from './completion/completion-places.ts';
import { fishCompletion } from './completion/fish-completion.ts';
import { zshCompletion } from './completion/zsh-completion.ts';
import type { CommandContext } from './console/command-context.ts';

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

type Shell = keyof typeof SCRIPTS;

/** `barid completion`: the script that a shell loads. It knows every command of this version, and starts no process. */
export function addCompletionCommand(program: Command, context: CommandContext): void {
  program
    .command('completion')
    .description('print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'that loads the script').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
For one shell, or in its start file:
  bash   source <(barid completion bash)
  zsh    source <(barid completion zsh)      after compinit
  fish   barid completion fish | source`,
    )
    .action(
      context.action(async (shell: Shell) => {
        const script = SCRIPTS[shell](completionPlaces(program));
        context.print({ shell, script }, () => [script.trimEnd()]);
        return 0;
      }),
    );
}

import { Command, CommanderError, Help } from 'commander';
import type { Clock } from '../../application/ports/clock.ts';
import { EXIT_USAGE } from '../exit-codes.ts';
import { readBuildVersion } from '../version.ts';
import { addAdminCommands } from './admin/admin-command.ts';
import { addApiKeyCommand } from './api-key-command.ts';
import { addBackupCommand } from './backup-command.ts';
import { addChannelsCommands } from './channels-command.ts';
import { addCompletionCommand } from './completion-command.ts';
import { CommandContext } from './console/command-context.ts';
import { CommandError } from './console/command-error.ts';
import type { CommandOutput } from './console/command-output.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addListenCommand } from './listen-command.ts';
import { addMigrateCommand } from './migrate-command.ts';
import { addRedriveCommand } from './redrive-command.ts';
import { addReportCommands } from './report-command.ts';
import { addRestoreCommands } from './restore-command.ts';
import { addSendCommand } from './send-command.ts';
import { addStartCommand } from './start-command.ts';
import { addVerifyCommand } from './verify-command.ts';
import { addWebhooksCommand } from './webhooks-command.ts';
import { addWhatsappSyncCommand } from './whatsapp-sync-command.ts';

/** A command, or a group of them: a file each, and a line here. */
const COMMANDS: readonly ((program: Command, context: CommandContext) => void)[] = [
  addStartCommand,
  addSendCommand,
  addListenCommand,
  addAdminCommands,
  addMigrateCommand,
  addBackupCommand,
  addRestoreCommands,
  addDoctorCommand,
  addVerifyCommand,
  addRedriveCommand,
  addChannelsCommands,
  addWebhooksCommand,
  addWhatsappSyncCommand,
  addReportCommands,
  addApiKeyCommand,
  addCompletionCommand,
];

const EXIT_CODE_HELP = `
Exit codes:
  0   it is done, or all is well
  1   it is not done, or something is wrong; a line says what
  2   the words are wrong, or there is no token or key
  69  the database or the service cannot be reached or used
  78  the configuration is wrong`;

/**
 * `barid`: runs the command of the words that are given. Resolves with its exit code: 0, `EXIT_NOT_DONE`, `EXIT_USAGE`,
 * `EXIT_UNAVAILABLE` or `EXIT_CONFIGURATION`.
 */
export async function runBarid(
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: CommandOutput,
  clock?: Clock,
): Promise<number> {
  const { program, context } = baridProgram(environment, output, clock);
  try {
    await program.parseAsync(given.length === 0 ? ['start'] : [...given], { from: 'user' });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    if (!(error instanceof CommandError)) throw error;
    for (const line of error.message.split('\n')) output.error(line);
    return error.exitCode;
  }
}

/** Every command, and what they share. */
export function baridProgram(
  environment: Readonly<Record<string, string | undefined>>,
  output: CommandOutput,
  clock?: Clock,
): { readonly program: Command; readonly context: CommandContext } {
  const program = new Command('barid')
    .description(
      'Messaging service: the service itself, the commands of its operators, tools for developers.',
    )
    .option('--json', 'print JSON in place of lines and tables')
    .version(readBuildVersion().version, '--version', 'print the version')
    .helpOption('--help', 'say what a command takes')
    .addHelpText(
      'after',
      '\nVariables of the environment configure every command: docs/configuration.md\nbarid <command> --help says more.',
    )
    .addHelpText('afterAll', EXIT_CODE_HELP)
    .showHelpAfterError('Add --help to see what it takes.')
    .configureHelp({
      showGlobalOptions: true,
      commandUsage: (command) => callOf(environment, new Help().commandUsage(command)),
    })
    .configureOutput({
      writeOut: (text) => output.print(text.trimEnd()),
      writeErr: (text) => output.error(text.trimEnd()),
    })
    .exitOverride();
  const isJson = () => program.opts<{ json?: boolean }>().json === true;
  const context = new CommandContext({ environment, output, isJson, clock });
  for (const add of COMMANDS) add(program, context);
  return { program, context };
}

/** How a command is called: by the program of the package, or by the script of npm that runs. */
function callOf({ npm_lifecycle_event: script }: Readonly<Record<string, string | undefined>>, call: string) {
  if (script === 'barid') return call.replace(/^barid/, 'npm run barid --');
  const own = `barid ${script} `;
  return script !== undefined && `${call} `.startsWith(own)
    ? `npm run ${script} -- ${call.slice(own.length)}`.trimEnd()
    : call;
}

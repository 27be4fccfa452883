import { runChannelsCommand } from './channels-command.ts';
import { consoleOutput } from './operator-command.ts';

process.exitCode = await runChannelsCommand(process.argv.slice(2), process.env, consoleOutput());

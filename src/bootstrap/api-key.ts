import { runApiKeyCommand } from './api-key-command.ts';
import { consoleOutput } from './operator-command.ts';

process.exitCode = runApiKeyCommand(process.argv.slice(2), process.env, consoleOutput());

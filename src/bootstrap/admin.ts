import { runAdminCommand } from './admin-command.ts';
import { consoleOutput } from './operator-command.ts';

process.exitCode = await runAdminCommand(process.argv.slice(2), process.env, consoleOutput());

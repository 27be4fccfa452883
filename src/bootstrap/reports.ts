import { consoleOutput } from './operator-command.ts';
import { runReportCommand } from './report-command.ts';

process.exitCode = await runReportCommand(process.argv.slice(2), process.env, consoleOutput());

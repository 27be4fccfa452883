import { consoleOutput } from './operator-command.ts';
import { runWebhookCommand } from './webhook-command.ts';

process.exitCode = await runWebhookCommand(process.argv.slice(2), process.env, consoleOutput());

import { consoleOutput } from './operator-command.ts';
import { runWhatsappCommand } from './whatsapp-command.ts';

process.exitCode = await runWhatsappCommand(process.argv.slice(2), process.env, consoleOutput());

import { checkChannels } from './check-channels.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { commandLine, consoleOutput } from './operator-command.ts';

const output = consoleOutput();
const [action, ...more] = process.argv.slice(2);

if (action === 'check' && more.length === 0) {
  process.exitCode = await checkChannels(process.env, output);
} else {
  output.error(
    `usage: ${commandLine(process.env, 'channels', 'check')}\nIt tries the credentials of every provider, and sends nothing.`,
  );
  process.exitCode = EXIT_USAGE;
}

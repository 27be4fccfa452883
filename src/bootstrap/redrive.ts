import { counted } from './counted.ts';
import { consoleOutput, runPlainCommand } from './operator-command.ts';

const output = consoleOutput();

process.exitCode = await runPlainCommand(
  'redrive',
  process.argv.slice(2),
  output,
  async ({ redriveJobs }) => {
    const count = await redriveJobs.execute();
    output.print(`redrive: ${counted(count, 'job')} due again`);
    return 0;
  },
);

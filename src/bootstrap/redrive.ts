import { counted } from './counted.ts';
import { consoleOutput, runOperatorCommand } from './operator-command.ts';

const output = consoleOutput();

process.exitCode = await runOperatorCommand(process.env, output, async ({ redriveJobs }) => {
  const count = await redriveJobs.execute();
  output.print(`redrive: ${counted(count, 'job')} due again`);
  return 0;
});

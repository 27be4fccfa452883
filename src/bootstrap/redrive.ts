import { consoleOutput, runOperatorCommand } from './operator-command.ts';

const output = consoleOutput();

process.exitCode = await runOperatorCommand(process.env, output, async ({ redriveJobs }) => {
  output.print(`redrive: ${await redriveJobs.execute()} jobs are due again`);
  return 0;
});

import { consoleOutput, runOperatorCommand } from './operator-command.ts';
import { ports } from './tokens.ts';

const output = consoleOutput();

/** Makes every job that was set aside due at once; the running service does them. */
process.exitCode = await runOperatorCommand(process.env, output, async (container) => {
  const now = container.get(ports.clock).now();
  const redriven = await container.get(ports.unitOfWork).run((stores) => stores.jobs.redrive(now));
  output.print(`redrive: ${redriven} jobs are due again`);
  return 0;
});

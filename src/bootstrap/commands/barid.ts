import { consoleOutput } from './console/command-output.ts';
import { runBarid } from './program.ts';

process.exitCode = await runBarid(process.argv.slice(2), process.env, consoleOutput());

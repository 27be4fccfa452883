import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * npm run test:crash [-- NAME...]
 *
 * Runs the crash tests in turn, each in a process of its own, and ends with exit code 1 when one found a violation.
 */
const TESTS: readonly string[] = [
  'kill',
  'kill-webhooks',
  'kill-campaigns',
  'kill-smsc',
  'kill-backlog',
  'kill-operators',
  'credit-race',
  'faults',
  'upgrade',
];

const named = process.argv.slice(2);
const unknown = named.find((name) => !TESTS.includes(name));
if (unknown !== undefined) throw new Error(`There is no crash test ${unknown}: they are ${TESTS.join(', ')}`);

const failed: string[] = [];
for (const name of named.length === 0 ? TESTS : named) {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.js`)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) failed.push(name);
}
console.log(failed.length === 0 ? 'crash tests: all hold' : `crash tests: VIOLATED by ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

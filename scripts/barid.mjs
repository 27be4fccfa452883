#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { openFilesProblem } from './open-files.mjs';

/** As in src/bootstrap/exit-codes.ts. */
const EXIT_CONFIGURATION = 78;
const EXIT_USAGE = 2;

/** The program of each command, in the folder of the build, and what it does. */
const COMMANDS = {
  start: ['main.js', 'starts the service; what is done without a command'],
  verify: ['verify.js', 'recomputes every balance and every sum, and lists dead-letter jobs'],
  redrive: ['redrive.js', 'makes every dead-letter job due again'],
  webhooks: ['webhooks.js', 'log <id> or retry <id>: inbound webhooks of a number'],
  reports: ['reports.js', 'delete <id>: ends the link of a report and removes its file'],
  channels: ['channels.js', 'check: tries the credentials of every provider, and sends nothing'],
  whatsapp: ['whatsapp.js', 'sync: reads numbers and templates of live projects from the platform now'],
  admin: ['admin.js', '--help says more: projects, keys, money and audit log of a running service'],
  'api-key': ['api-key.js', 'dev or live: makes an API key for the seed file'],
};

const USAGE = [
  'usage: barid [command] [argument...]',
  ...Object.entries(COMMANDS).map(([name, [, what]]) => `  ${name.padEnd(10)}${what}`),
  'Variables of the environment configure every command: docs/configuration.md',
].join('\n');

const name = process.argv[2] ?? 'start';
if (name === '--help' || name === 'help') {
  console.log(USAGE);
} else if (name === '--version') {
  console.log(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version);
} else if (!Object.hasOwn(COMMANDS, name)) {
  console.error(`barid has no command ${name}\n${USAGE}`);
  process.exitCode = EXIT_USAGE;
} else {
  const problem = openFilesProblem();
  if (problem !== null) {
    console.error(`Barid cannot start:\n${problem}`);
    process.exit(EXIT_CONFIGURATION);
  }
  const [program] = COMMANDS[name];
  // The program reads what follows its own name.
  process.argv.splice(2, 1);
  await import(new URL(`../dist/bootstrap/${program}`, import.meta.url).href);
}

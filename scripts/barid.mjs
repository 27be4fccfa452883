#!/usr/bin/env node
import { openFilesProblem } from './open-files.mjs';

/** As in src/bootstrap/exit-codes.ts. */
const EXIT_CONFIGURATION = 78;

const given = process.argv.slice(2);
/** The service itself needs no parser of commands. */
const starts = given.length === 0 || (given.length === 1 && given[0] === 'start');
/** These open nothing. */
const onlySays = given[0] === 'completion' || given.some((word) => word === '--help' || word === '--version');

const problem = onlySays ? null : openFilesProblem();
if (problem !== null) {
  console.error(`Barid cannot start:\n${problem}`);
  process.exit(EXIT_CONFIGURATION);
}
const program = starts ? 'main.js' : 'commands/barid.js';
await import(new URL(`../dist/bootstrap/${program}`, import.meta.url).href);

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '../..');
const { buildService } = await import(pathToFileURL(join(ROOT, 'scripts', 'build.mjs')).href);
/** Of the compiled service: compiling in passing took seconds of every start. */
const BOOTSTRAP: string = join(await buildService(), 'bootstrap');

/** The service as a program. */
export const MAIN_PROGRAM = join(BOOTSTRAP, 'main.js');

/** The command line as a program. */
export const BARID_PROGRAM = join(BOOTSTRAP, 'commands', 'barid.js');

/** Starts a program in a process of its own, in the project's folder. */
export function startProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The same; resolves with how it ended and what it wrote. */
export async function runProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = startProgram(args, env);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

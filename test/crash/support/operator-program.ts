import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LOAD_SECRET_KEY } from '../../support/load-service.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/bootstrap/commands/barid.js', import.meta.url));

/** How a run of `barid` ended. */
export interface ProgramRun {
  /** Null when it was killed. */
  readonly code: number | null;
  readonly text: string;
  /** From its start to its end, in milliseconds. */
  readonly ms: number;
}

/** Runs `barid` on a SQLite file as an operator does, and kills it after that many milliseconds; never when absent. */
export async function runProgram(
  given: readonly string[],
  filename: string,
  killAfterMs?: number,
): Promise<ProgramRun> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...given], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      DATABASE_URL: `sqlite:${filename}`,
      QUEUE_URL: '',
      SECRET_KEY: LOAD_SECRET_KEY.toString('hex'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(killAfterMs === undefined ? {} : { timeout: killAfterMs, killSignal: 'SIGKILL' }),
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  const [code] = await once(child, 'close');
  return { code, text: Buffer.concat(printed).toString().trim(), ms: performance.now() - startedAt };
}

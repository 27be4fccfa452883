import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Resolves with how `npm start` ends when the process may have so many files open. */
function startWith(openFilesMax: number): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const command = `ulimit -n ${openFilesMax}; exec "$0" scripts/start.mjs`;
  return new Promise((resolve) => {
    execFile('sh', ['-c', command, process.execPath], { cwd: ROOT, env: {} }, (error, stdout, stderr) =>
      resolve({ code: error?.code, stdout, stderr }),
    );
  });
}

it.each([64, 128])('ends with code 78 and one line when it may open %i files only', async (openFilesMax) => {
  expect(await startWith(openFilesMax)).toEqual({
    code: 78,
    stdout: '',
    stderr:
      'Barid cannot start:\nulimit -n: the process may open too few files at a time (EMFILE); allow 1024, and one more for each connection\n',
  });
});

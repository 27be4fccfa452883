import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import * as client from '../../src/client/client.ts';
import { codeBlocks, Page, ROOT, tables, unquoted } from '../support/markdown.ts';
import { runProgram } from '../support/program.ts';
import { startService } from '../support/running-service.ts';

const page = new Page('docs/client.md');
const [program = '', harnessTest = ''] = codeBlocks(page.text, 'ts');

it('the program of docs/client.md sends a code and waits for its end', async () => {
  const service = await startService();
  const waiting = run(program, { BARID_URL: await service.url, BARID_KEY: service.apiKey });
  await service.inbox.next({ to: '9647701234567', timeoutMs: 15_000 });
  await service.advance(1_000);
  expect(await waiting).toEqual({ code: 0, stdout: 'delivered by whatsapp\n', stderr: '' });
});

it('the test with the harness in docs/client.md passes', async () => {
  const { code, stdout } = await run(harnessTest, {}, ['--test-reporter=tap']);
  expect(stdout).toContain('# pass 1\n# fail 0');
  expect(code).toBe(0);
});

it('docs/client.md lists every class of errors', () => {
  const [rows = []] = tables(page.section('## Errors'));
  const classes = Object.entries(client)
    .filter(([, value]) => typeof value === 'function' && value.prototype instanceof client.BaridError)
    .map(([name]) => name);
  expect(rows.map(([name]) => unquoted(name)).toSorted()).toEqual(classes.toSorted());
});

/** Runs a program of the page on the sources of the package. */
async function run(code: string, environment: NodeJS.ProcessEnv, options: readonly string[] = []) {
  const folder = mkdtempSync(join(ROOT, 'node_modules', '.barid-client-'));
  const sourceOf = (path: string) => `'${pathToFileURL(join(ROOT, 'src', path)).href}'`;
  const file = join(folder, 'example.test.mts');
  writeFileSync(
    file,
    code
      .replace("'barid/client'", sourceOf('client/client.ts'))
      .replace("'barid/harness'", sourceOf('bootstrap/harness/harness.ts')),
  );
  const { NODE_TEST_CONTEXT: _, VITEST: __, ...inherited } = process.env;
  try {
    return await runProgram(['--import', 'tsx', ...options, file], { ...inherited, ...environment });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { codeBlocks, Page, ROOT } from '../support/markdown.ts';
import { hasOpenssl } from '../support/openssl.ts';

const page = new Page('docs/testing.md');
const sourceOf = (name: string) => pathToFileURL(join(ROOT, 'src/bootstrap', name)).href;

it('the test of a fallback in docs/testing.md passes', () => {
  const [example = ''] = codeBlocks(page.section('## A test of a fallback'), 'ts');
  expect(runTest(example)).toContain('# pass 1\n# fail 0');
});

it.skipIf(!hasOpenssl)('the test with a webhook receiver in docs/testing.md passes', () => {
  const section = page.section('## Webhooks in a test');
  const [certificates = ''] = codeBlocks(section, 'sh');
  const [example = ''] = codeBlocks(section, 'ts');
  expect(runTest(example, certificates)).toContain('# pass 1\n# fail 0');
});

/** Runs a test of a reader in a folder of its own, after the commands that prepare it; returns its report. */
function runTest(code: string, commands = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'barid-testing-'));
  try {
    const prepared = spawnSync('bash', ['-ec', commands], { cwd: folder, encoding: 'utf8' });
    expect({ status: prepared.status, stderr: prepared.stderr }).toMatchObject({ status: 0 });
    writeFileSync(
      join(folder, 'code.test.mts'),
      code
        .replace("'barid/harness'", `'${sourceOf('harness/harness.ts')}'`)
        .replace("'barid/webhooks'", `'${sourceOf('verify-webhook.ts')}'`),
    );
    const { NODE_TEST_CONTEXT: _, VITEST: __, ...environment } = process.env;
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), '--test-reporter=tap', 'code.test.mts'],
      { cwd: folder, env: environment, encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startHarness } from '../../src/bootstrap/harness/harness.ts';
import { HttpsReceiver } from '../support/https-receiver.ts';
import { codeBlocks, Page, ROOT } from '../support/markdown.ts';
import { hasOpenssl } from '../support/openssl.ts';
import { runProgram } from '../support/program.ts';
import { startService } from '../support/running-service.ts';

const README = new Page('README.md');

describe('the code of README.md', () => {
  it('the curl lines of README.md get the reply that is shown', async () => {
    const service = await startService();
    const bodies = [...README.text.matchAll(/-d '(\{.*\})'/g)].map(([, body]) => JSON.parse(body ?? ''));
    const replies = [];
    for (const body of bodies) replies.push(await service.request('/sms', { body }));
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    const [shown = ''] = codeBlocks(README.section('## The first message'), 'json');
    expect({ ...Object(replies[0]?.body), smsId: '' }).toEqual({ ...JSON.parse(shown), smsId: '' });

    await service.advance(1_000);
    const { body } = await service.request(`/sms/track/${Object(replies[1]?.body).smsId}`);
    expect(body).toMatchObject({
      status: 'delivered',
      channelFlow: [
        { channel: 'whatsapp', tried: true, success: false },
        { channel: 'telegram', tried: true, success: false },
        { channel: 'sms', tried: true, success: true },
      ],
    });
  });

  it.skipIf(!hasOpenssl)('a send delivers the webhook that README.md shows', async () => {
    const receiver = await HttpsReceiver.open();
    const service = await startService({ egress: receiver.egress });
    const [request = '', event = ''] = codeBlocks(README.section('## A webhook'), 'json');
    const body = JSON.parse(request.replace('https://shop.example/barid', receiver.url()));
    const sent = await service.request('/sms', { body });
    await service.advance(1_000);
    const { smsId } = sent.body as { smsId: string };
    expect(receiver.bodies().at(-1)).toEqual({ ...JSON.parse(event), smsId });
  });

  it('the test with the harness in README.md passes', async () => {
    const [example = ''] = codeBlocks(README.section('## A test of your own program'), 'ts');
    const harness = pathToFileURL(join(ROOT, 'src/bootstrap/harness/harness.ts')).href;
    expect(example).toContain("from 'barid/harness'");
    const { stdout, stderr } = await run(example.replace("'barid/harness'", `'${harness}'`), [
      '--test-reporter=tap',
    ]);
    expect(stdout).toContain('# pass 1\n# fail 0');
    expect(stderr).toBe('');
  });

  it('the published client reaches the service as README.md says', async () => {
    const harness = await startHarness();
    const [example = ''] = codeBlocks(README.section('## The npm package otpiq'), 'ts');
    expect(example).toContain('http://127.0.0.1:3000/api');
    const { stdout, stderr } = await run(example.replace('http://127.0.0.1:3000', await harness.url));
    await harness.close();
    expect({ stdout, stderr }).toEqual({ stdout: "{ projectName: 'Demo', credit: 15000 }\n", stderr: '' });
  });
});

/** Runs a program that may import what this project depends on. Fails the test when it fails. */
async function run(code: string, options: readonly string[] = []) {
  const folder = mkdtempSync(join(ROOT, 'node_modules', '.barid-readme-'));
  const file = join(folder, 'example.test.mts');
  writeFileSync(file, code);
  const { NODE_TEST_CONTEXT: _, VITEST: __, ...environment } = process.env;
  const ended = await runProgram(['--import', 'tsx', ...options, file], environment);
  rmSync(folder, { recursive: true });
  expect(ended).toMatchObject({ code: 0 });
  return ended;
}

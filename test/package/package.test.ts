import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { writeCertificate } from '../support/certificate-files.ts';
import { codeBlocks, Page, ROOT } from '../support/markdown.ts';
import { freePort } from '../support/private-server.ts';
import { specifiersOf } from '../support/source-rules.ts';
import { InstalledPackage, ownEnvironment } from './installed-package.ts';

/** Compiling, packing and installing; most of it waits for the disk. */
const INSTALLED_MS_MAX = 300_000;
/** Checks of types and programs that a user runs. */
const PROGRAM_MS_MAX = 120_000;

/** What a user writes: every export with its types. Each expected error is a type that has to be there. */
const PROGRAM = `
import { createBaridClient, type BaridClient, RateLimitError, type SendSms } from 'barid/client';
import { type Harness, startHarness } from 'barid/harness';
import { verifyWebhook, type WebhookHeaders } from 'barid/webhooks';

const baseUrl = process.argv[2] ?? '';
const apiKey = process.argv[3] ?? '';
const client: BaridClient = createBaridClient({ baseUrl, apiKey, fetch });
const message: SendSms = { phoneNumber: '9647701234567', smsType: 'verification', verificationCode: '123456' };
try {
  const { smsId, cost } = await client.sendSms(message);
  const price: number = cost;
  const { status } = await client.waitUntilFinal(smsId, { timeoutMs: 20_000 });
  const known: 'pending' | 'sent' | 'delivered' | 'read' | 'failed' = status;
  console.log(known, price);
} catch (error) {
  if (error instanceof RateLimitError) console.log(error.waitMinutes.toFixed());
  throw error;
}

export async function unused(harness: Harness, headers: WebhookHeaders): Promise<boolean> {
  const other: Harness = await startHarness({ now: '2030-01-01', logLevel: 'warn' });
  const shown = await other.inbox.next({ to: '9647701234567' });
  const code: string | null = shown.code;
  // @ts-expect-error the program behind a harness is not part of the package
  harness.service;
  // @ts-expect-error a message of this type has a code
  await client.sendSms({ phoneNumber: '9647701234567', smsType: 'verification' });
  // @ts-expect-error an operation without an idempotency key takes none
  await client.info({ idempotencyKey: 'x' });
  return verifyWebhook(code ?? '', headers, 'secret', { toleranceMs: Infinity });
}
`;

/** A program of a user that meets the whole interface: a message with its webhook, a campaign, a report. */
const JOURNEY = `
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createBaridClient } from 'barid/client';
import { verifyWebhook } from 'barid/webhooks';

const [baseUrl = '', apiKey = '', port = '', key = '', cert = ''] = process.argv.slice(2);
const SECRET = 'a-secret-of-mine';
const client = createBaridClient({ baseUrl, apiKey });

const events: { smsId: string; status: string }[] = [];
const arrival = new Promise<void>((arrived) => {
  const receiver = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const isGenuine = verifyWebhook(body, request.headers, SECRET);
    response.writeHead(isGenuine ? 200 : 401).end();
    if (isGenuine) events.push(JSON.parse(body));
    receiver.close();
    arrived();
  });
  receiver.listen(Number(port), '127.0.0.1');
});

const { smsId } = await client.sendSms({
  phoneNumber: '9990000000001',
  smsType: 'custom',
  customMessage: 'Your parcel is here.',
  deliveryReport: { webhookUrl: \`https://localhost:\${port}/hook\`, deliveryReportType: 'final', webhookSecret: SECRET },
});
const message = await client.waitUntilFinal(smsId);
await arrival;
console.log(message.status, events[0]?.smsId === smsId, events[0]?.status);

const { data } = await client.whatsappResources();
const account = data.businesses[0]?.whatsappAccounts[0];
const template = account?.templates.find(({ category }) => category === 'UTILITY');
const { data: draft } = await client.createCampaign({
  name: 'Orders',
  templateId: template?.id ?? '',
  phoneNumberId: account?.phoneNumbers[0]?.id ?? '',
});
const { data: payload } = await client.recipientPayload({ templateId: template?.id });
const { templateParameters } = payload.exampleRecipient;
const numbers = ['9990000010001', '9990000020001'];
await client.attachRecipients(draft._id, {
  recipients: numbers.map((phoneNumber) => ({ phoneNumber, templateParameters })),
});
await client.startCampaign(draft._id);
let campaign = await client.campaign(draft._id);
while (campaign.data.billingStatus !== 'reconciled') {
  await new Promise((resolve) => setTimeout(resolve, 50));
  campaign = await client.campaign(draft._id);
}
console.log(campaign.data.status, campaign.data.deliveredCount, campaign.data.billingStatus);

const today = new Date().toISOString().slice(0, 10);
const report = await client.generateReport({ startDate: '2020-01-01', endDate: today });
const rows = (await (await fetch(report.downloadUrl)).text()).trimEnd().split('\\r\\n');
console.log(report.recordCount, rows.length, rows.some((row) => row.startsWith(smsId)));
`;

const STRICT = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2023'];

let project: InstalledPackage;
beforeAll(async () => {
  project = await InstalledPackage.create();
  project.write('program.ts', PROGRAM);
  project.write('journey.ts', JOURNEY);
}, INSTALLED_MS_MAX);
afterAll(() => project?.remove());

describe('the tarball', () => {
  it('the tarball has programs, types and pages, and neither tests nor sources', () => {
    const folders = project.files.map((path) => path.split('/').slice(0, 2).join('/'));
    expect([...new Set(folders)].filter((path) => !path.startsWith('docs/')).toSorted()).toEqual([
      'CHANGELOG.md',
      'README.md',
      'dist/adapters',
      'dist/application',
      'dist/bootstrap',
      'dist/client',
      'dist/domain',
      'package.json',
      'scripts/barid.mjs',
      'scripts/open-files.mjs',
    ]);
    expect(project.files.filter((path) => /(?<!\.d)\.m?ts$|\.test\./.test(path))).toEqual([]);
  });

  it('the tarball has every page of docs, and the file that is loaded by its path', () => {
    const pages = readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`);
    const loaded = 'dist/adapters/knex/sqlite/wal/checkpoint-thread.mjs';
    expect(project.files).toEqual(expect.arrayContaining([...pages, loaded]));
  });

  it('the types of the exports import no package but zod', () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const installed = join(project.folder, 'node_modules/barid');
    for (const [name, { types }] of Object.entries<{ types: string }>(exports)) {
      const packages = packagesOf(join(installed, types));
      expect([name, ...packages]).toEqual(name === './harness' ? [name, 'zod'] : [name]);
    }
  });

  it('a source map leads from the program to a source that it brings along', () => {
    const file = join(project.folder, 'node_modules/barid/dist/client/client.js.map');
    const { sources, sourcesContent } = JSON.parse(readFileSync(file, 'utf8'));
    expect(sources).toEqual(['../../src/client/client.ts']);
    expect(sourcesContent[0]).toBe(readFileSync(join(ROOT, 'src/client/client.ts'), 'utf8'));
  });
});

describe('the types in another project', { timeout: PROGRAM_MS_MAX }, () => {
  test.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('a program is accepted with the modules %s and the resolution %s', async (module, resolution) => {
    const options = ['--types', 'node', '--module', module, '--moduleResolution', resolution];
    const { stdout, code } = await project.run('tsc', [...STRICT, ...options, 'program.ts', 'journey.ts']);
    expect({ stdout, code }).toEqual({ stdout: '', code: 0 });
  });

  it('the client is accepted in a project that has the types of a browser and none of Node', async () => {
    project.write(
      'worker.ts',
      `import { createBaridClient } from 'barid/client';
       export const { info } = createBaridClient({ baseUrl: location.origin, apiKey: '', fetch });`,
    );
    const lib = ['es2023', 'dom'];
    const compilerOptions = {
      noEmit: true,
      strict: true,
      skipLibCheck: false,
      types: [],
      lib,
      module: 'esnext',
    };
    project.write(
      'worker.json',
      JSON.stringify({
        compilerOptions: { ...compilerOptions, moduleResolution: 'bundler' },
        files: ['worker.ts'],
      }),
    );
    const { stdout, code } = await project.run('tsc', ['-p', 'worker.json']);
    expect({ stdout, code }).toEqual({ stdout: '', code: 0 });
  });
});

describe('programs of another project', { timeout: PROGRAM_MS_MAX }, () => {
  it('the test with the harness in README.md passes', async () => {
    const [example = ''] = codeBlocks(new Page('README.md').section('## A test of your own program'), 'ts');
    project.write('code.test.ts', example);
    const { stdout, code } = await project.run('tsx', ['--test', '--test-reporter=tap', 'code.test.ts']);
    expect(stdout).toContain('# pass 1\n# fail 0');
    expect(code).toBe(0);
  });

  it('the program barid starts the service, and the client sends a message to it', async () => {
    const environment = { ...ownEnvironment(), PORT: '0', DATABASE_URL: 'sqlite:data/barid.db' };
    const service = spawn(project.program('barid'), [], {
      cwd: project.folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(service, 'exit');
    try {
      const { url, key } = await addressOf(service);
      const { stdout, stderr } = await project.run('tsx', ['program.ts', url, key]);
      expect({ stdout, stderr }).toEqual({ stdout: 'delivered 80\n', stderr: '' });
      expect(existsSync(join(project.folder, 'data/barid.db'))).toBe(true);
      const verified = await project.run('barid', ['verify'], { DATABASE_URL: 'sqlite:data/barid.db' });
      expect(verified).toMatchObject({
        code: 0,
        stdout: 'verify: 1 project, 0 differences, 0 dead-letter jobs\n',
      });
    } finally {
      service.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });

  it('a program with the client sends, gets a webhook, runs a campaign and downloads a report', async () => {
    const { ca, key, cert } = writeCertificate(project.folder);
    const port = String(await freePort());
    const service = spawn(project.program('barid'), [], {
      cwd: project.folder,
      env: {
        ...ownEnvironment(),
        PORT: '0',
        DATABASE_URL: 'sqlite::memory:',
        EGRESS_ALLOW: '127.0.0.0/8,::1/128',
        EGRESS_PORTS: port,
        NODE_EXTRA_CA_CERTS: ca,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(service, 'exit');
    try {
      const { url, key: apiKey } = await addressOf(service);
      const { stdout, stderr } = await project.run('tsx', ['journey.ts', url, apiKey, port, key, cert]);
      expect({ stdout, stderr }).toEqual({
        stdout: 'delivered true delivered\ncompleted 2 reconciled\n3 4 true\n',
        stderr: '',
      });
    } finally {
      service.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });

  it('the program barid passes arguments on to a command, which names itself', async () => {
    const { code, stderr } = await project.run('barid', ['api-key', 'both']);
    expect([code, stderr]).toEqual([2, expect.stringContaining("'both' is invalid for argument")]);
    const help = await project.run('barid', ['api-key', '--help']);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: barid api-key /) });
  });

  it('the program barid rejects a word that is no command, and lists the commands when it is asked', async () => {
    const { code, stdout, stderr } = await project.run('barid', ['begin']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain("unknown command 'begin'");
    const help = await project.run('barid', ['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    const commands = [...help.stdout.matchAll(/^ {2}([a-z]\S+) /gm)].map(([, name]) => name);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const ofOperators = Object.keys(scripts).filter((name) => scripts[name].endsWith(`barid.mjs ${name}`));
    expect(ofOperators.length).toBeGreaterThan(5);
    expect(commands).toEqual(expect.arrayContaining(['start', 'completion', ...ofOperators]));
  });

  it('the program barid tells its version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(await project.run('barid', ['--version'])).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
  });
});

/** What the service prints when it listens. Throws when it ends before. */
async function addressOf(service: ChildProcessByStdio<null, Readable, Readable>) {
  let url: string | undefined;
  for await (const line of createInterface({ input: service.stdout })) {
    url ??= /^Barid listens on (\S+)/.exec(line)?.[1];
    const key = /^key: (\S+)/.exec(line)?.[1];
    if (url !== undefined && key !== undefined) {
      service.stdout.resume();
      return { url, key };
    }
  }
  throw new Error('The service ended before it listened');
}

/** The packages that a file of types imports, and the files that it imports in turn. */
function packagesOf(file: string, seen = new Set<string>()): readonly string[] {
  seen.add(file);
  const code = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const packages = specifiersOf(code).flatMap((specifier) => {
    if (!specifier.startsWith('.')) return [specifier];
    const next = join(dirname(file), specifier.replace(/\.(?:ts|js)$/, '.d.ts'));
    return seen.has(next) ? [] : packagesOf(next, seen);
  });
  return [...new Set(packages)].toSorted();
}

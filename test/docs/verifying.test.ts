import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { codeBlocks, Page } from '../support/markdown.ts';
import { signatureVectors } from '../support/signature-vectors.ts';

/** What a verifier is asked: a request, and the instant it arrived at in seconds. */
interface Question {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly now: number;
}

const page = new Page('docs/webhooks.md');
const [, typescript = ''] = codeBlocks(page.section('### TypeScript'), 'ts');
const [python = ''] = codeBlocks(page.section('### Python'), 'python');
const [php = ''] = codeBlocks(page.section('### PHP'), 'php');

/** A program in each language that reads questions as JSON and prints a list of verdicts. */
const PROGRAMS = [
  {
    language: 'TypeScript',
    command: [process.execPath, '--import', import.meta.resolve('tsx')],
    file: 'verify.mts',
    code: `${typescript}
      import { readFileSync } from 'node:fs';
      const asked = JSON.parse(readFileSync(0, 'utf8'));
      console.log(JSON.stringify(asked.map((each) => isGenuine(each.body, each.headers, each.secret, each.now * 1000))));`,
  },
  {
    language: 'Python',
    command: ['python3'],
    file: 'verify.py',
    code: `${python}
import json, sys
asked = json.load(sys.stdin)
print(json.dumps([is_genuine(q["body"].encode(), q["headers"], q["secret"], q["now"]) for q in asked]))
`,
  },
  {
    language: 'PHP',
    command: ['php'],
    file: 'verify.php',
    code: `${php}
$asked = json_decode(stream_get_contents(STDIN), true);
echo json_encode(array_map(fn ($q) => isGenuine($q['body'], $q['headers'], $q['secret'], (float) $q['now']), $asked));
`,
  },
];

/** Python and PHP run where they are installed; neither belongs to what the project needs. */
const byLanguage = PROGRAMS.filter(
  ({ command: [name = ''] }) => spawnSync(name, ['--version']).status === 0,
).map((program) => [program.language, program] as const);

const questions = signatureVectors().flatMap(({ body, inbound, standard }): Question[] => [
  {
    body,
    headers: {
      'x-svc-webhook-signature': inbound.signature,
      'x-svc-webhook-timestamp': inbound.timestamp,
    },
    secret: inbound.secret,
    now: Number(inbound.timestamp) / 1_000,
  },
  {
    body,
    headers: {
      'webhook-id': standard.id,
      'webhook-timestamp': standard.timestamp,
      'webhook-signature': standard.signature,
    },
    secret: standard.secret,
    now: Number(standard.timestamp),
  },
]);

const forged: readonly Question[] = questions.slice(0, 20).flatMap((genuine) => [
  { ...genuine, body: `${genuine.body} ` },
  { ...genuine, secret: genuine.secret.replace(/.(.)$/, (end) => (end === 'AA' ? 'BB' : 'AA')) },
  { ...genuine, now: genuine.now + 301 },
  { ...genuine, now: genuine.now - 301 },
  { ...genuine, headers: {} },
  { ...genuine, headers: mapValues(genuine.headers, (value) => value.slice(0, -1)) },
  { ...genuine, headers: mapValues(genuine.headers, () => '') },
]);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'barid-verify-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('verifying a webhook by docs/webhooks.md', () => {
  it('the verifiers run in TypeScript at least', () => {
    expect(byLanguage.map(([language]) => language)).toContain('TypeScript');
    expect(questions.length).toBeGreaterThan(40);
  });

  test.each(byLanguage)('the verifier in %s takes every genuine request', (_, program) => {
    expect(verdictsOf(program, questions)).toEqual(questions.map(() => true));
  });

  test.each(byLanguage)('the verifier in %s rejects every forged, late or early request', (_, program) => {
    expect(verdictsOf(program, forged)).toEqual(forged.map(() => false));
  });
});

function verdictsOf({ command, file, code }: (typeof PROGRAMS)[number], asked: readonly Question[]): unknown {
  writeFileSync(join(folder, file), code);
  const [name = '', ...args] = command;
  const { stdout, stderr } = spawnSync(name, [...args, file], {
    cwd: folder,
    input: JSON.stringify(asked),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

function mapValues(record: Readonly<Record<string, string>>, change: (value: string) => string) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

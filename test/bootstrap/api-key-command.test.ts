import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { HmacKeyHasher } from '../../src/adapters/node/hmac-key-hasher.ts';
import { runApiKeyCommand } from '../../src/bootstrap/api-key-command.ts';
import { hasChecksum } from '../../src/domain/access/api-key.ts';

const SECRET_KEY = '01'.repeat(32);

let folder: string;
let printed: string[];
let errors: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'api-key-command-'));
  printed = [];
  errors = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (given: readonly string[], environment: Readonly<Record<string, string>> = { SECRET_KEY }) =>
  runApiKeyCommand(given, environment, {
    print: (line) => printed.push(line),
    error: (line) => errors.push(line),
  });
const isOf = (apiKey: string | undefined, secretKey: string) =>
  hasChecksum(apiKey ?? '', new HmacKeyHasher({ secretKey: Buffer.from(secretKey, 'hex') }).checksum);

test.each(['live', 'dev'])(
  'the command makes a new %s key each time, with the checksum of its SECRET_KEY',
  (name) => {
    expect([run([name]), run([name])]).toEqual([0, 0]);
    const [first, second] = printed;
    expect(first).toMatch(new RegExp(`^sk_${name}_[0-9a-f]{40}$`));
    expect(isOf(first, SECRET_KEY)).toBe(true);
    expect(isOf(first, '02'.repeat(32))).toBe(false);
    expect(second).not.toBe(first);
    expect(errors).toEqual([]);
  },
);

it('the command uses the secret key that the service will use', () => {
  expect(run(['dev'], { DATABASE_URL: `sqlite:${join(folder, 'barid.db')}` })).toBe(0);
  expect(isOf(printed[0], readFileSync(join(folder, 'secret.key'), 'utf8').trim())).toBe(true);
});

test.each([[[]], [['test']], [['dev', 'live']]])(
  'the command says how it is used when it is given %j',
  (given) => {
    expect(run(given)).toBe(2);
    expect(errors[0]).toContain('barid api-key dev|live');
    expect(printed).toEqual([]);
  },
);

it('the command names what is wrong with the configuration', () => {
  expect(run(['dev'], { SECRET_KEY: 'short' })).toBe(78);
  expect(errors[0]).toContain('SECRET_KEY');
});

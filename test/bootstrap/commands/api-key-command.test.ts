import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { HmacKeyHasher } from '../../../src/adapters/node/hmac-key-hasher.ts';
import { hasChecksum } from '../../../src/domain/shared/checksum.ts';
import { barid } from '../../support/barid.ts';

const SECRET_KEY = '01'.repeat(32);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'api-key-command-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (given: readonly string[], environment: Readonly<Record<string, string>> = { SECRET_KEY }) =>
  barid(['api-key', ...given], { environment });
const isOf = (apiKey: string | undefined, secretKey: string) =>
  hasChecksum(apiKey ?? '', new HmacKeyHasher({ secretKey: Buffer.from(secretKey, 'hex') }).checksum);

test.each(['live', 'dev'])(
  'the command makes a new %s key each time, with the checksum of its SECRET_KEY',
  async (name) => {
    const [first, second] = [await run([name]), await run([name])];
    expect([first.code, first.errors, second.code]).toEqual([0, [], 0]);
    expect(first.text).toMatch(new RegExp(`^sk_${name}_[0-9a-f]{40}$`));
    expect(isOf(first.text, SECRET_KEY)).toBe(true);
    expect(isOf(first.text, '02'.repeat(32))).toBe(false);
    expect(second.text).not.toBe(first.text);
  },
);

it('the command uses the secret key that the service will use', async () => {
  const { code, text } = await run(['dev'], { DATABASE_URL: `sqlite:${join(folder, 'barid.db')}` });
  expect(code).toBe(0);
  expect(isOf(text, readFileSync(join(folder, 'secret.key'), 'utf8').trim())).toBe(true);
});

it('the command prints its key in a JSON object with --json', async () => {
  const { text } = await run(['live', '--json']);
  expect(isOf(JSON.parse(text).apiKey, SECRET_KEY)).toBe(true);
});

test.each([[[]], [['test']], [['dev', 'live']]])(
  'the command says what it takes when it is given %j',
  async (given) => {
    const { code, printed, errors } = await run(given);
    expect([code, printed]).toEqual([2, []]);
    expect(errors.join()).toContain('--help');
    expect((await run(['--help'])).text).toContain('barid api-key');
  },
);

it('the command names what is wrong with the configuration', async () => {
  const { code, errors } = await run(['dev'], { SECRET_KEY: 'short' });
  expect(code).toBe(78);
  expect(errors[0]).toContain('SECRET_KEY');
});

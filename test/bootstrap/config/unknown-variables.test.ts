import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, test } from 'vitest';
import { configNames } from '../../../src/bootstrap/config/config-entries.ts';
import { unknownSettings, unknownVariables } from '../../../src/bootstrap/config/unknown-variables.ts';
import { BARID_PROGRAM, MAIN_PROGRAM } from '../../support/compiled-service.ts';
import { runProgram } from '../../support/program.ts';

const KNOWN = ['PORT', 'HOST', 'ROLE', 'DATABASE_URL', 'DATABASE_URL_FILE', 'EGRESS_ALLOW', 'LOG_LEVEL'];

test.each<[name: string, suggestion: string | null]>([
  ['DATABASE_URI', 'DATABASE_URL'],
  ['EGRESS_ALOW', 'EGRESS_ALLOW'],
  ['egress_allow', 'EGRESS_ALLOW'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['DATABASE_MAXIMUM_SIZE', null],
])('warns of %s and suggests %s', (name, suggestion) => {
  expect(unknownVariables({ [name]: 'x' }, KNOWN)).toEqual([{ name, suggestion }]);
});

test.each(['HOME', 'PATH', 'HOSTNAME', 'USER', 'PWD', 'TERM', 'NODE_OPTIONS', 'npm_config_loglevel', 'LANG'])(
  'leaves %s to other programs',
  (name) => {
    expect(unknownVariables({ [name]: 'x' }, KNOWN)).toEqual([]);
  },
);

it('accepts known names, files of secrets among them', () => {
  const all = configNames();
  expect(all).toEqual(expect.arrayContaining(['PORT', 'SECRET_KEY', 'SECRET_KEY_FILE', 'DATABASE_URL_FILE']));
  expect(all).not.toContain('PORT_FILE');
  expect(unknownVariables(Object.fromEntries(all.map((name) => [name, 'x'])), all)).toEqual([]);
});

it('warns at the start by name, never with the value', async () => {
  const { stdout, stderr } = await runProgram([MAIN_PROGRAM], {
    PATH: process.env.PATH,
    DATABASE_URL: 'sqlite::memory:',
    DATABASE_URI: 'postgres://user:hidden@host/database',
    SEED_FILE: '/nowhere/seed.json',
  });
  const [line = ''] = stdout.split('\n');
  expect(JSON.parse(line)).toMatchObject({
    level: 'warn',
    event: 'variable_unknown',
    name: 'DATABASE_URI',
    suggestion: 'DATABASE_URL',
  });
  expect(`${stdout}${stderr}`).not.toContain('hidden');
});

it('leaves the variables alone that the channels file takes credentials from', () => {
  const folder = mkdtempSync(join(tmpdir(), 'barid-variables-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'channels.json');
  const token = { env: 'TELEGRAM_GATEWAY_TOKEN' };
  writeFileSync(
    file,
    JSON.stringify({ telegram: { providers: { gateway: { kind: 'telegram-gateway', token } } } }),
  );
  const environment = { TELEGRAM_GATEWAY_TOKEN: 'x', TELEGRAM_OTHER_TOKEN: 'x' };
  const namesOf = (more: object) => unknownSettings({ ...environment, ...more }).map(({ name }) => name);
  expect(namesOf({ CHANNELS_FILE: file })).toEqual(['TELEGRAM_OTHER_TOKEN']);
  expect(namesOf({})).toEqual(['TELEGRAM_GATEWAY_TOKEN', 'TELEGRAM_OTHER_TOKEN']);
  expect(namesOf({ CHANNELS_FILE: join(folder, 'missing.json') })).toHaveLength(2);
});

it('a command warns of a setting that is none, and goes on', async () => {
  const { stderr, code } = await runProgram([BARID_PROGRAM, 'channels', 'check'], {
    PATH: process.env.PATH,
    CHANNEL_FILE: '/nowhere/channels.json',
  });
  expect(code).toBe(0);
  expect(stderr).toContain('CHANNEL_FILE is no setting of Barid; CHANNELS_FILE was probably meant');
});

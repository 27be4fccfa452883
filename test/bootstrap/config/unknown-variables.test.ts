import { expect, it, test } from 'vitest';
import { configNames } from '../../../src/bootstrap/config/config-entries.ts';
import { unknownVariables } from '../../../src/bootstrap/config/unknown-variables.ts';
import { MAIN_PROGRAM } from '../../support/compiled-service.ts';
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

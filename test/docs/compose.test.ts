import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const text = readFileSync(join(import.meta.dirname, '../../compose.yaml'), 'utf8');

it('compose.yaml gives the token of the admin interface to the api alone', () => {
  const withToken = text.split(/^(?= {2}\w+:$)/m).filter((part) => /^ +ADMIN_TOKEN:/m.test(part));
  expect(withToken.map((part) => part.split('\n')[0])).toEqual(['  api:']);
});

it('compose.yaml makes no demo project, whose key is public, unless it is asked to', () => {
  const [, environment = ''] = /^ {2}environment: &environment\n((?: {4}.*\n)+)/m.exec(text) ?? [];
  expect(environment).toMatch(/^ {4}SEED_FILE: \$\{SEED_FILE-none\}$/m);
});

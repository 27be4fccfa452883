import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('compose.yaml gives the token of the admin interface to the api alone', () => {
  const text = readFileSync(join(import.meta.dirname, '../../compose.yaml'), 'utf8');
  const withToken = text.split(/^(?= {2}\w+:$)/m).filter((part) => /^ +ADMIN_TOKEN:/m.test(part));
  expect(withToken.map((part) => part.split('\n')[0])).toEqual(['  api:']);
});

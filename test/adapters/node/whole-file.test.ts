import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makePartial, placeNew, replaceKeeping } from '../../../src/adapters/node/whole-file.ts';

const PERMISSIONS = 0o777;
const folder = mkdtempSync(join(tmpdir(), 'barid-whole-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A partial file that was made anew by somebody who did not care for its mode. */
function aReadablePartial(target: string): string {
  const partial = makePartial(target);
  writeFileSync(partial, 'whole');
  chmodSync(partial, 0o644);
  return partial;
}

it('a file that gets its name is readable by its owner alone', () => {
  const target = join(folder, 'new.db');
  placeNew(aReadablePartial(target), target);
  expect(statSync(target).mode & PERMISSIONS).toBe(0o600);
});

it('a file that replaces another is readable by its owner alone', () => {
  const target = join(folder, 'old.db');
  writeFileSync(target, 'before');
  replaceKeeping(aReadablePartial(target), target, `${target}.aside`);
  expect(statSync(target).mode & PERMISSIONS).toBe(0o600);
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { barid } from '../../support/barid.ts';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(folder, shell), (await barid(['completion', shell])).text);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a real bash would offer after these words; the last one is being written. */
function completed(...words: readonly string[]): readonly string[] {
  const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _barid; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['--norc', '-uc', script, 'bash', join(folder, 'bash'), 'barid', ...words];
  return execFileSync('bash', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
}

describe('the completion in bash', () => {
  test.each<[readonly string[], readonly string[]]>([
    [['ver'], ['verify']],
    [
      ['webhooks', ''],
      ['log', 'resend'],
    ],
    [
      ['api-key', ''],
      ['live', 'dev'],
    ],
    [['completion', 'f'], ['fish']],
    [
      ['admin', 'keys', ''],
      ['create', 'list', 'revoke', 'rotate'],
    ],
    [['--json', 'admin', 'keys', 'ro'], ['rotate']],
    [['admin', '--url', 'http://keys', 'credit', 'top'], ['top-up']],
    [['admin', 'keys', 'rotate', 'souq', '--ov'], ['--overlap-minutes']],
    [['admin', 'projects', 'create', '--environment', ''], []],
    [
      ['verify', '--'],
      ['--json', '--help'],
    ],
    [['nothing', 'of', 'this'], []],
  ])('after the words %j bash offers %j', (words, offered) => {
    expect(completed(...words)).toEqual(offered);
  });

  it('bash offers every command after the program', () => {
    expect(completed('')).toEqual(expect.arrayContaining(['start', 'admin', 'verify', 'completion']));
  });
});

describe('the scripts of the other shells', () => {
  it('the script for zsh has descriptions, and no quote of them ends a word', async () => {
    const { text } = await barid(['completion', 'zsh']);
    expect(text).toMatch(/^#compdef barid\n/);
    expect(text).toContain(`('admin keys') words_here=('create:make a key; it is shown once' `);
  });

  it('the script for fish has a line for each word', async () => {
    const { text } = await barid(['completion', 'fish']);
    expect(text).toContain(
      String.raw`complete -c barid -n '__barid_at \'admin keys\'' -f -a 'create' -d 'make a key; it is shown once'`,
    );
    expect(text).toContain(
      String.raw`complete -c barid -n '__barid_at \'admin keys rotate\'' -l overlap-minutes -r -d`,
    );
  });

  test.each(['zsh', 'fish'])('%s takes its script', (shell) => {
    let isInstalled = true;
    try {
      execFileSync(shell, ['-c', 'true']);
    } catch {
      isInstalled = false;
    }
    if (!isInstalled) return console.warn(`${shell} is not installed: its script was not tried`);
    const file = join(folder, shell);
    if (shell === 'zsh') return void execFileSync(shell, ['-n', file]);
    const offered = execFileSync(shell, ['-c', `source ${file}; complete -C 'barid admin keys ro'`], {
      env: { ...process.env, HOME: folder },
      encoding: 'utf8',
    });
    expect(offered).toBe('rotate\treplace a key by a new one; the old one works on for a day\n');
  });

  it('another shell is rejected', async () => {
    const { code, errors } = await barid(['completion', 'sh']);
    expect([code, errors[0]]).toEqual([2, expect.stringContaining('Allowed choices are bash, zsh, fish.')]);
  });
});

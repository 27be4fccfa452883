import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { baridProgram } from '../../../src/bootstrap/commands/program.ts';
import * as exitCodes from '../../../src/bootstrap/exit-codes.ts';
import { barid } from '../../support/barid.ts';
import { Page, tables } from '../../support/markdown.ts';

const { program } = baridProgram({}, { print: () => undefined, error: () => undefined });

const nested = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(nested)];
const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
const all = nested(program).map((command) => [pathOf(command), command] as const);

describe('barid', () => {
  it.each(all)('%s says what it does, what it takes and how it ends', async (path, command) => {
    expect(command.description()).not.toBe('');
    for (const option of command.options) expect([option.flags, option.description]).not.toContain('');
    for (const argument of command.registeredArguments) {
      expect([argument.name(), argument.description]).not.toContain('');
    }
    const { code, text, errors } = await barid([...path.split(' ').slice(1), '--help']);
    expect([code, errors]).toEqual([0, []]);
    expect(text).toContain(`Usage: ${path}`);
    expect(text).toContain('--json');
    for (const [, value] of Object.entries(exitCodes)) expect(text).toMatch(new RegExp(`^  ${value} `, 'm'));
  });

  it('barid prints its version', async () => {
    expect(await barid(['--version'])).toMatchObject({ code: 0, printed: [packageJson.version] });
  });

  it('barid suggests the command that a wrong word resembles', async () => {
    const { code, errors } = await barid(['verfy']);
    expect([code, errors.join('\n')]).toEqual([2, expect.stringContaining('Did you mean verify?')]);
  });
});

describe('docs/operations.md', () => {
  it('docs/operations.md lists every exit code of the commands', () => {
    const [rows = []] = tables(new Page('docs/operations.md').section('### Exit codes of commands'));
    expect(rows.map(([code]) => Number(code))).toEqual([
      0,
      ...Object.values(exitCodes).sort((a, b) => a - b),
    ]);
  });

  it('docs/operations.md names every command', () => {
    const text = new Page('docs/operations.md').section('## Commands');
    for (const command of program.commands) expect(text).toContain(`barid ${command.name()}`);
  });
});

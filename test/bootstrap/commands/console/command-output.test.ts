import { expect, it, vi } from 'vitest';
import { consoleOutput } from '../../../../src/bootstrap/commands/console/command-output.ts';

it('a mistake that quotes what a terminal obeys is printed with escapes, and keeps its lines', () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  consoleOutput().error('PORT: "\u001b[2J" is no port\nROLE: "\u202ereworw" is no role');
  expect(printed.mock.calls).toEqual([['PORT: "\\u001b[2J" is no port\nROLE: "\\u202ereworw" is no role']]);
  printed.mockRestore();
});

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Argument, Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { baridProgram } from '../../../src/bootstrap/commands/program.ts';
import { ADMIN_TOKEN } from '../../support/admin.ts';
import { barid } from '../../support/barid.ts';
import { portOf } from '../../support/port-of.ts';
import { startService } from '../../support/running-service.ts';

/** A word that every argument and option takes: an amount is a number. */
const ANY_WORD = '1';

/** A description for programs, and what `barid listen` asks. */
const WITHOUT_ADMIN_COMMAND = ['GET /admin/openapi.json', `GET /admin/projects/${ANY_WORD}/webhook-events`];

const { program } = baridProgram({}, { print: () => undefined, error: () => undefined });

const leaves = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
const namesOf = (command: Command): readonly string[] =>
  command.parent === null ? [] : [...namesOf(command.parent), command.name()];

/** The words of a command: with the required arguments, with all, and with each of the other options. */
function wordsOf(command: Command, file: string): readonly (readonly string[])[] {
  const wordsFor = (given: readonly Argument[]) =>
    given.map((each) => (each.name() === 'file' ? file : ANY_WORD));
  const optionWords = ({ long, required }: Option) => [long ?? '', ...(required ? [ANY_WORD] : [])];
  const { registeredArguments, options } = command;
  const words = [...namesOf(command), ...options.filter(({ mandatory }) => mandatory).flatMap(optionWords)];
  const required = [...words, ...wordsFor(registeredArguments.filter((each) => each.required))];
  return [
    required,
    [...words, ...wordsFor(registeredArguments)],
    ...options.filter(({ mandatory }) => !mandatory).map((option) => [...required, ...optionWords(option)]),
  ];
}

it('barid admin has a command for each endpoint of operators, and no request to another', async () => {
  const service = await startService({ adminToken: ADMIN_TOKEN });
  const { paths } = (await service.request('/admin/openapi.json', { apiKey: ADMIN_TOKEN })).body as {
    paths: Record<string, object>;
  };
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, ANY_WORD)}`),
  );

  const requested = new Set<string>();
  const server = createServer(({ method, url = '' }, response) => {
    requested.add(`${method} ${url.split('?')[0]}`);
    response.writeHead(400).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'barid-admin-commands-'));
  const file = join(folder, 'file.json');
  writeFileSync(file, '{}');
  try {
    const admin = program.commands.find((command) => command.name() === 'admin');
    for (const words of leaves(admin as Command).flatMap((command) => wordsOf(command, file))) {
      const url = ['--url', `http://127.0.0.1:${portOf(server)}`];
      await barid([...words.slice(0, 1), ...url, ...words.slice(1)], { environment: { ADMIN_TOKEN } });
    }
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
  expect([...requested, ...WITHOUT_ADMIN_COMMAND].sort()).toEqual(endpoints.sort());
});

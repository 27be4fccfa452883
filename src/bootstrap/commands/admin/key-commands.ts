import type { Command } from 'commander';
import {
  type AdminConsole,
  type Columns,
  type Fields,
  type PageOptions,
  paged,
  pathOf,
} from './admin-console.ts';
import { toNumber } from './project-options.ts';

const KEYS: Columns = {
  list: 'keys',
  columns: ['id', 'prefix', 'lastFour', 'status', 'createdAt', 'endsAt', 'revokedAt', 'lastUsedAt'],
};

/** `barid admin keys`. */
export function addKeyCommands(program: Command, admin: AdminConsole): void {
  const keys = program.command('keys').description('make, list and end API keys');
  keys
    .command('create')
    .description('make a key; it is shown once')
    .argument('<project>', 'id or slug')
    .action((project: string) => admin.print({ method: 'POST', path: pathOf('projects', project, 'keys') }));
  paged(
    keys.command('list').description('list the keys of a project').argument('<project>', 'id or slug'),
  ).action((project: string, options: PageOptions) =>
    admin.printPage(pathOf('projects', project, 'keys'), options, KEYS),
  );
  keys
    .command('revoke')
    .description('reject a key from now on')
    .argument('<project>', 'id or slug')
    .argument('<key>', 'the id of the key')
    .action((project: string, key: string) =>
      admin.print({ method: 'POST', path: pathOf('projects', project, 'keys', key, 'revoke') }),
    );
  keys
    .command('rotate')
    .description('replace a key by a new one; the old one works on for a day')
    .argument('<project>', 'id or slug')
    .argument('<key>', 'the id of the key')
    .option('--overlap-minutes <minutes>', 'how long the old key works on', toNumber)
    .action((project: string, key: string, options: Fields) =>
      admin.print({
        method: 'POST',
        path: pathOf('projects', project, 'keys', key, 'rotate'),
        body: options,
      }),
    );
}

import type { Command } from 'commander';
import {
  type AdminConsole,
  type Columns,
  type Fields,
  type PageOptions,
  paged,
  pathOf,
} from './admin-console.ts';
import { bodyOf, toTrial, withSettings } from './project-options.ts';

const PROJECTS: Columns = {
  list: 'projects',
  columns: ['id', 'slug', 'name', 'environment', 'credit', 'held', 'archivedAt'],
};

/** `barid admin projects`. */
export function addProjectCommands(program: Command, admin: AdminConsole): void {
  const projects = program.command('projects').description('make, list and change projects');
  paged(projects.command('list').description('list the projects')).action((options: PageOptions) =>
    admin.printPage('/projects', options, PROJECTS),
  );
  withSettings(
    projects
      .command('create')
      .description('make a project')
      .argument('<slug>', '1 to 60 of a-z, 0-9 and -')
      .requiredOption('--name <name>', 'for people')
      .requiredOption('--environment <environment>', 'dev or live')
      .option('--payment-type <type>', 'prepaid or postpaid')
      .option('--trial <number>', 'until the first top-up it sends to this number only', toTrial),
  ).action((slug: string, options: Fields) =>
    admin.print({ method: 'POST', path: '/projects', body: { slug, ...bodyOf(options) } }),
  );
  projects
    .command('show')
    .description('show a project with its money and settings')
    .argument('<project>', 'id or slug')
    .action((project: string) => admin.print({ path: pathOf('projects', project) }));
  withSettings(
    projects
      .command('set')
      .description('change the name, settings or threshold of a project')
      .argument('<project>', 'id or slug')
      .option('--name <name>', 'for people'),
  ).action((project: string, options: Fields) =>
    admin.print({ method: 'PATCH', path: pathOf('projects', project), body: bodyOf(options) }),
  );
  projects
    .command('archive')
    .description('reject the keys of a project for ever')
    .argument('<project>', 'id or slug')
    .action((project: string) =>
      admin.print({ method: 'POST', path: pathOf('projects', project, 'archive') }),
    );
}

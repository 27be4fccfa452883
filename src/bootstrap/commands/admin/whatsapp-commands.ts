import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { messageOf } from '../../../application/errors/error-text.ts';
import { countResources, type WhatsappBusiness } from '../../../domain/whatsapp/whatsapp-resources.ts';
import { jsonMistake } from '../../config/json-mistake.ts';
import { EXIT_USAGE } from '../../exit-codes.ts';
import { CommandError } from '../console/command-error.ts';
import { escaped, fieldLines } from '../console/text-table.ts';
import type { RequestFile } from './admin-client.ts';
import { type AdminConsole, type Fields, pathOf } from './admin-console.ts';

/** `barid admin whatsapp`. */
export function addWhatsappCommands(program: Command, admin: AdminConsole): void {
  const whatsapp = program
    .command('whatsapp')
    .description('show and set the whatsapp resources of a project');
  whatsapp
    .command('show')
    .description('print the resources as JSON, as set takes them')
    .argument('<project>', 'id or slug')
    .action((project: string) =>
      admin.print({ path: pathTo(project) }, (tree) =>
        JSON.stringify(tree, null, 2).split('\n').map(escaped),
      ),
    );
  whatsapp
    .command('set')
    .description('replace the resources by those of a file')
    .argument('<project>', 'id or slug')
    .argument('<file>', 'JSON, as show prints it')
    .action((project: string, file: string) =>
      admin.print({ method: 'PUT', path: pathTo(project), file: treeFile(file) }, countLines),
    );
}

function pathTo(project: string): string {
  return pathOf('projects', project, 'whatsapp');
}

function countLines({ businesses }: Fields): readonly string[] {
  return fieldLines({ ...countResources(businesses as readonly WhatsappBusiness[]) });
}

function treeFile(path: string): RequestFile {
  let bytes: Buffer<ArrayBuffer>;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`, EXIT_USAGE);
  }
  const text = bytes.toString('utf8');
  try {
    JSON.parse(text);
  } catch {
    throw new CommandError(`${path} is not JSON: ${jsonMistake(text)}`, EXIT_USAGE);
  }
  return { bytes, mediaType: 'application/json' };
}

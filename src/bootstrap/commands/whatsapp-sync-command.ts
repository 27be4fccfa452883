import type { Command } from 'commander';
import { EXIT_NOT_DONE } from '../exit-codes.ts';
import type { Roots } from '../roots.ts';
import type { CommandContext } from './console/command-context.ts';
import { counted } from './console/counted.ts';

/** The operator's side of section 2.7: reads the numbers and templates of live projects from the platform now. */
export function addWhatsappSyncCommand(program: Command, context: CommandContext): void {
  program
    .command('whatsapp')
    .description('whatsapp accounts of live projects')
    .command('sync')
    .description(
      'read the numbers and templates of live projects from the platform now; may run beside the service',
    )
    .action(context.action(() => context.onDatabase((roots) => sync(roots, context))));
}

/** The log has a line with the reason for each account that failed. */
async function sync({ whatsappPlatforms, syncWhatsapp }: Roots, context: CommandContext): Promise<number> {
  if (whatsappPlatforms.isEmpty) {
    context.output.error('sync: no provider can read whatsapp accounts; those of the kind cloud-api can');
    return EXIT_NOT_DONE;
  }
  const { accounts, failed, changed } = await syncWhatsapp.execute();
  context.print({ accounts, failed, changed }, () => [
    `sync: ${counted(accounts, 'account')}, ${failed} failed, ${counted(changed, 'resource tree')} changed`,
  ]);
  return failed === 0 ? 0 : EXIT_NOT_DONE;
}

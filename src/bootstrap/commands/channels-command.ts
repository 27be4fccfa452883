import type { Command } from 'commander';
import type { ProviderCheck } from '../../application/ports/channel-provider.ts';
import { EXIT_NOT_DONE } from '../exit-codes.ts';
import type { CommandContext } from './console/command-context.ts';

/** `barid channels`: neither a database nor a running service is needed. */
export function addChannelsCommands(program: Command, context: CommandContext): void {
  program
    .command('channels')
    .description('channel providers of live projects')
    .command('check')
    .description('try the credentials of every provider; sends nothing, and needs no database')
    .action(context.action(() => check(context)));
}

function check(context: CommandContext): Promise<number> {
  return context.withConfig(async (config) => {
    const { checkProviders } = await import('./provider-checks.ts');
    const checks = await checkProviders(config);
    if (checks.length === 0 && !context.isJson) {
      context.output.print('channels: live projects have none; set CHANNELS_FILE, see docs/channels.md');
    } else {
      context.printRows(checks, {
        columns: ['channel', 'provider', 'ok', 'detail'],
        lineOf: (each) => `${each.channel} ${each.provider}: ${outcomeOf(each)}, ${each.detail}`,
      });
    }
    return checks.every(({ ok }) => ok) ? 0 : EXIT_NOT_DONE;
  });
}

function outcomeOf({ ok, isUntried }: ProviderCheck): string {
  if (isUntried === true) return 'NOT TRIED';
  return ok ? 'ok' : 'NOT OK';
}

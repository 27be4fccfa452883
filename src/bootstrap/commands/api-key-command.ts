import { randomBytes } from 'node:crypto';
import { Argument, type Command } from 'commander';
import { API_KEY_RANDOM_BYTES, newApiKey } from '../../domain/access/api-key.ts';
import { ENVIRONMENTS, type Environment } from '../../domain/access/project.ts';
import type { CommandContext } from './console/command-context.ts';

/**
 * Makes an API key with a checksum, before the first start or after it; it is stored nowhere. Makes the secret key when
 * there is none yet, as the service does.
 */
export function addApiKeyCommand(program: Command, context: CommandContext): void {
  program
    .command('api-key')
    .description(
      'make an API key for the seed file, with the SECRET_KEY of the service; it is stored nowhere',
    )
    .addArgument(new Argument('<environment>', 'of the project').choices(ENVIRONMENTS))
    .action(
      context.action((environment: Environment) =>
        context.withConfig(async (config) => {
          const { HmacKeyHasher } = await import('../../adapters/node/hmac-key-hasher.ts');
          const { secretKeyFor } = await import('../config/secret-key.ts');
          const { checksum } = new HmacKeyHasher({ secretKey: secretKeyFor(config) });
          const apiKey = newApiKey(environment, randomBytes(API_KEY_RANDOM_BYTES).toString('hex'), checksum);
          context.print({ apiKey }, () => [apiKey]);
          return 0;
        }),
      ),
    );
}

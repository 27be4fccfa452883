import { randomBytes } from 'node:crypto';
import { HmacKeyHasher } from '../adapters/node/hmac-key-hasher.ts';
import { API_KEY_RANDOM_BYTES, newApiKey } from '../domain/access/api-key.ts';
import { ENVIRONMENTS } from '../domain/access/project.ts';
import { ConfigError, readConfig } from './config.ts';
import { EXIT_CONFIGURATION, EXIT_USAGE } from './exit-codes.ts';
import { type CommandOutput, commandLine } from './operator-command.ts';
import { secretKeyFor } from './secret-key.ts';

const WHAT_IT_DOES = 'makes a key for the seed file, with the SECRET_KEY of the service';

/**
 * Makes an API key with a checksum, before the first start or after it; it is stored nowhere. Makes the secret key when
 * there is none yet, as the service does. Returns the exit code: 0, `EXIT_USAGE` or `EXIT_CONFIGURATION`.
 */
export function runApiKeyCommand(
  given: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
  output: CommandOutput,
): number {
  const environment = ENVIRONMENTS.find((name) => name === given[0]);
  if (environment === undefined || given.length > 1) {
    output.error(`usage: ${commandLine(variables, 'api-key', 'dev|live')}   ${WHAT_IT_DOES}`);
    return EXIT_USAGE;
  }
  try {
    const { checksum } = new HmacKeyHasher({ secretKey: secretKeyFor(readConfig(variables)) });
    output.print(newApiKey(environment, randomBytes(API_KEY_RANDOM_BYTES).toString('hex'), checksum));
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    output.error(`Barid cannot read its configuration:\n${error.message}`);
    return EXIT_CONFIGURATION;
  }
}

import { codeOf } from '../application/errors/error-text.ts';
import { ConfigError } from './config/config.ts';

/** The port is taken, or only the superuser may have it; all else that keeps a server from listening is its address. */
const PORT_CODES: ReadonlySet<string> = new Set(['EADDRINUSE', 'EACCES']);

/** What an operator has to change when a server cannot listen: the names of the two variables, with their values. */
export function listenMistake(
  error: unknown,
  { port, host }: { readonly port: readonly [string, number]; readonly host: readonly [string, string] },
): ConfigError {
  const code = codeOf(error);
  const mistake = PORT_CODES.has(code)
    ? {
        name: port[0],
        problem: `cannot listen on port ${port[1]} of ${host[1]} (${code}); choose another ${port[0]}, 0 for a free one, or ${host[0]}`,
      }
    : {
        name: host[0],
        problem: `cannot listen on ${host[1]} (${code}); choose an address of this machine`,
      };
  return new ConfigError([mistake]);
}

import type { IncomingMessage } from 'node:http';
import type { Actor } from '../../../../domain/shared/actor.ts';
import { CLI_AGENT } from '../../cli-agent.ts';

/** Through what the token was used. It says nothing about rights: everybody here has the token. */
export function actorOf({ headers }: IncomingMessage): Actor {
  return headers['user-agent']?.startsWith(CLI_AGENT) === true ? 'cli' : 'operator';
}

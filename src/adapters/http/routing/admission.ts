import type { IncomingMessage } from 'node:http';
import { Rejected } from '../../../application/rejected.ts';
import { apiKeyFromHeader } from '../../../domain/access/api-key.ts';
import { type GuardedEndpoint, isAddressAllowed } from '../../../domain/access/ip-rule.ts';
import type { Project } from '../../../domain/access/project.ts';
import type { Api } from './api.ts';
import { isListed } from './ip-allow-list.ts';

export type Admit = (request: IncomingMessage) => Promise<Project>;

/** By key (specification 5), and by address when the project's rule guards this kind of endpoint. */
export function admitTo(endpoint: GuardedEndpoint, api: Api): Admit {
  return async (request) => {
    const project = await api.authenticate.execute(apiKeyFromHeader(request.headers.authorization));
    if (!isAddressAllowed(project.settings, endpoint, request.socket.remoteAddress, isListed)) {
      throw new Rejected({ kind: 'ip-not-allowed' });
    }
    return project;
  };
}

import type { IncomingMessage } from 'node:http';
import { apiKeyFromHeader } from '../../domain/access/api-key.ts';
import type { Project } from '../../domain/access/project.ts';
import type { Api } from './api.ts';
import { checkIpRule } from './ip-rule.ts';

export type Admit = (request: IncomingMessage) => Promise<Project>;

/** By key (specification 5), and by address when the project's rule guards every endpoint. */
export function admitByKey(api: Api): Admit {
  return async (request) => {
    const project = await api.authenticate.execute(apiKeyFromHeader(request.headers.authorization));
    if (project.settings.ipRuleScope === 'all') checkIpRule(project, request.socket.remoteAddress);
    return project;
  };
}

/** By key and by address, whatever the scope of the project's rule (specification 5.4). */
export function admitByKeyAndAddress(api: Api): Admit {
  return async (request) => {
    const project = await api.authenticate.execute(apiKeyFromHeader(request.headers.authorization));
    checkIpRule(project, request.socket.remoteAddress);
    return project;
  };
}

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AuthenticateProject } from '../../../application/access/authenticate-project.ts';
import { Rejected } from '../../../application/errors/rejected.ts';
import { type GuardedEndpoint, isAddressAllowed } from '../../../domain/access/ip-rule.ts';
import type { Project } from '../../../domain/access/project.ts';
import { type HttpError, RequestRejected } from '../replies/http-error.ts';
import { ADDRESS_NOT_ALLOWED, NOT_FOUND, UNAUTHORIZED, unauthorized } from '../replies/known-errors.ts';
import { apiKeyFromHeader, bearerFromHeader } from './authorization.ts';
import { isListed } from './ip-allow-list.ts';
import type { RequestPermit } from './request-permit.ts';

/** A security scheme of OpenAPI, with its name in the document. */
export interface SecurityScheme {
  readonly name: string;
  readonly definition: Readonly<Record<string, string>>;
}

/**
 * A request that is sent slowly, or that waited, is admitted once more after this time, in milliseconds: its key may have been
 * revoked meanwhile.
 */
export const ADMISSION_FRESH_MS = 250;

/** Who may use a route. */
export interface Admission<Caller> {
  /** How the document describes the credential; null when there is none. */
  readonly scheme: SecurityScheme | null;
  /** What callers without the credential are told, for the document. */
  readonly errors: readonly HttpError[];
  /** Resolves with the caller; throws for one who may not. Called before the body is read, and again behind a slow one. */
  admit(request: IncomingMessage, permit: RequestPermit): Promise<Caller>;
}

const PROJECT_KEY: SecurityScheme = {
  name: 'projectKey',
  definition: { type: 'http', scheme: 'bearer', description: 'A project API key, sk_live_… or sk_dev_…' },
};
const OPERATOR_TOKEN: SecurityScheme = {
  name: 'operatorToken',
  definition: { type: 'http', scheme: 'bearer', description: 'The token of the operator' },
};

const OPERATOR_UNAUTHORIZED = unauthorized('Unauthorized, please use the operator token', 'Bearer');

/** Admits everyone. */
export const anyone: Admission<null> = {
  scheme: null,
  errors: [],
  admit: async () => null,
};

/** Admits by project key (specification 5), and by address when the rule of the project guards the endpoint. */
export function projectKey(
  authenticate: Pick<AuthenticateProject, 'execute'>,
  endpoint: GuardedEndpoint = 'other',
): Admission<Project> {
  return {
    scheme: PROJECT_KEY,
    errors: [UNAUTHORIZED, ADDRESS_NOT_ALLOWED],
    async admit({ headers }, permit) {
      const apiKey = apiKeyFromHeader(headers.authorization);
      const project = await authenticate.execute(apiKey, permit.network);
      if (!isAddressAllowed(project.settings, endpoint, permit.address, isListed)) {
        throw new Rejected({ kind: 'ip-not-allowed' });
      }
      permit.claimFor(project.id, apiKey);
      return project;
    },
  };
}

/**
 * Admits by the token of the operator, as a bearer token. Without a token (null or empty) there is no operator
 * surface: its routes reply 404 in the envelope of their family, whatever the caller sends.
 */
export function operatorToken(token: string | null): Admission<null> {
  const expected = token === null || token === '' ? null : digestOf(token);
  return {
    scheme: OPERATOR_TOKEN,
    errors: [OPERATOR_UNAUTHORIZED, NOT_FOUND],
    async admit({ headers }) {
      if (expected === null) throw new RequestRejected(NOT_FOUND);
      // Digests have one length, so the comparison takes the same time for every token.
      const given = digestOf(bearerFromHeader(headers.authorization) ?? '');
      if (!timingSafeEqual(given, expected)) throw new RequestRejected(OPERATOR_UNAUTHORIZED);
      return null;
    },
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

import { readFileSync } from 'node:fs';
import { CLI_AGENT } from '../adapters/http/families/admin-fields.ts';
import { EXIT_UNAVAILABLE, EXIT_USAGE } from './exit-codes.ts';

/** The service rejected the request. */
export const EXIT_REJECTED = 1;

/** How long a request may take. */
const REQUEST_MS_MAX = 60_000;
const SERVICE_AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** A command that cannot be done: the line that says why, and the exit code. */
export class AdminCommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.name = 'AdminCommandError';
    this.exitCode = exitCode;
  }
}

/** A request to the admin interface; `path` begins behind `/admin`. */
export interface AdminRequest {
  readonly method?: 'POST' | 'PATCH';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
}

/** The admin interface of a running service. */
export class AdminClient {
  readonly #url: string;
  readonly #token: string;

  /** Throws `AdminCommandError` without a token. */
  constructor(url: string, environment: Readonly<Record<string, string | undefined>>) {
    if (!URL.canParse(url) || !/^https?:/.test(url)) {
      throw new AdminCommandError(`--url must be an http or https URL, such as ${DEFAULT_URL}`, EXIT_USAGE);
    }
    this.#url = url.replace(/\/+$/, '');
    this.#token = tokenOf(environment);
  }

  /** The reply as JSON. Throws `AdminCommandError`. */
  async json(request: AdminRequest): Promise<unknown> {
    return parsed(await this.text(request));
  }

  /** The reply as a text. Throws `AdminCommandError`. */
  async text({ method, path, query = {}, body, idempotencyKey }: AdminRequest): Promise<string> {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
    const response = await this.#fetch(`${this.#url}/admin${path}${search}`, {
      method: method ?? 'GET',
      headers: {
        authorization: `Bearer ${this.#token}`,
        'user-agent': CLI_AGENT,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      // The token goes to this host only.
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status === 200) return response.text;
    if (response.code === 'not-found') {
      throw new AdminCommandError(
        `${this.#url} has no admin interface: start the service with ADMIN_TOKEN`,
        EXIT_REJECTED,
      );
    }
    const code = SERVICE_AWAY.has(response.status) ? EXIT_UNAVAILABLE : EXIT_REJECTED;
    throw new AdminCommandError(errorText(response), code);
  }

  async #fetch(url: string, init: RequestInit) {
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_MS_MAX) });
      const { status, headers } = response;
      return { status, code: headers.get('x-error-code'), text: await response.text() };
    } catch (error) {
      throw new AdminCommandError(`${this.#url} cannot be reached: ${reasonOf(error)}`, EXIT_UNAVAILABLE);
    }
  }
}

export const DEFAULT_URL = 'http://127.0.0.1:3000';

function tokenOf(environment: Readonly<Record<string, string | undefined>>): string {
  const { ADMIN_TOKEN_FILE: path = '', ADMIN_TOKEN: plain = '' } = environment;
  const token = path === '' ? plain : fileContent(path);
  if (/^[!-~]+$/.test(token)) return token;
  throw new AdminCommandError(
    'set ADMIN_TOKEN, or ADMIN_TOKEN_FILE, to the token of the service',
    EXIT_USAGE,
  );
}

function fileContent(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new AdminCommandError(`ADMIN_TOKEN_FILE cannot be read: ${reasonOf(error)}`, EXIT_USAGE);
  }
}

function errorText({ status, code, text }: { status: number; code: string | null; text: string }): string {
  if (code === null) return `the reply has status ${status}, and is not one of Barid`;
  const { error, message } = Object(parsed(text)) as { error?: unknown; message?: unknown };
  return `${error ?? message ?? status} (${code})`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AdminCommandError('the reply is not JSON: this is no Barid', EXIT_REJECTED);
  }
}

/** fetch says why in the cause of its error. */
function reasonOf(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : { cause: undefined, message: String(error) };
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return message;
}

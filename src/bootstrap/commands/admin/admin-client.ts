import { readFileSync } from 'node:fs';
import { CLI_AGENT } from '../../../adapters/http/cli-agent.ts';
import { messageOf } from '../../../application/errors/error-text.ts';
import { EXIT_NOT_DONE, EXIT_UNAVAILABLE, EXIT_USAGE } from '../../exit-codes.ts';
import { CommandError } from '../console/command-error.ts';
import {
  errorText,
  isBearerToken,
  isServiceAway,
  jsonOf,
  requestService,
  type ServiceReply,
  serviceUrl,
} from '../console/service-address.ts';
import { recordLines } from '../console/text-table.ts';

/** A file as the body of a request. */
export interface RequestFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
}

/** A request to the admin interface; `path` begins behind `/admin`. */
export interface AdminRequest {
  readonly method?: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** In place of `body`. */
  readonly file?: RequestFile;
  readonly idempotencyKey?: string | undefined;
}

/** The admin interface of a running service. */
export class AdminClient {
  readonly #url: string;
  readonly #token: string;

  /** Throws `CommandError` without a token. */
  constructor(url: string, environment: Readonly<Record<string, string | undefined>>) {
    this.#url = serviceUrl(url);
    this.#token = tokenOf(environment);
  }

  /** The reply as JSON. Throws `CommandError`. */
  async json(request: AdminRequest): Promise<unknown> {
    const parsed = jsonOf(await this.text(request));
    if (parsed !== undefined) return parsed;
    throw new CommandError('the reply is not JSON: this is no Barid', EXIT_NOT_DONE);
  }

  /** The reply as a text. Throws `CommandError`. */
  async text({
    method,
    path,
    query = {},
    body,
    file = jsonFile(body),
    idempotencyKey,
  }: AdminRequest): Promise<string> {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
    const reply = await requestService(this.#url, `/admin${path}${search}`, {
      method: method ?? 'GET',
      headers: {
        authorization: `Bearer ${this.#token}`,
        'user-agent': CLI_AGENT,
        ...(file === undefined ? {} : { 'content-type': file.mediaType }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(file === undefined ? {} : { body: file.bytes }),
    });
    if (reply.status >= 200 && reply.status < 300) return reply.text;
    if (reply.code === 'not-found') {
      throw new CommandError(
        `${this.#url} has no admin interface: start the service with ADMIN_TOKEN`,
        EXIT_NOT_DONE,
      );
    }
    const lines = [errorText(reply), ...detailLines(reply)];
    const exitCode = isServiceAway(reply) ? EXIT_UNAVAILABLE : EXIT_NOT_DONE;
    throw new CommandError(lines.join('\n'), exitCode, reply.code);
  }
}

function jsonFile(body: unknown): RequestFile | undefined {
  if (body === undefined) return undefined;
  return { bytes: new TextEncoder().encode(JSON.stringify(body)), mediaType: 'application/json' };
}

/** What an error of the service has beside its text: a line for each mistake of a file, and the other fields. */
function detailLines({ code, text }: ServiceReply): readonly string[] {
  if (code === null) return [];
  const { error: _error, message: _message, errors, ...others } = Object(jsonOf(text));
  return [...mistakeLines(errors), ...recordLines(others)];
}

function mistakeLines(errors: unknown): readonly string[] {
  if (!Array.isArray(errors)) return [];
  return errors.map((each) => {
    const { line, field, problem } = Object(each) as Readonly<Record<string, unknown>>;
    const place = [line == null ? 'file' : `line ${line}`, ...(field == null ? [] : [field])];
    return `${place.join(', ')}: ${problem}`;
  });
}

function tokenOf(environment: Readonly<Record<string, string | undefined>>): string {
  const { ADMIN_TOKEN_FILE: path = '', ADMIN_TOKEN: plain = '' } = environment;
  const token = path === '' ? plain : fileContent(path);
  if (isBearerToken(token)) return token;
  throw new CommandError(
    'set ADMIN_TOKEN, or ADMIN_TOKEN_FILE, to the token of the service; a service that was started without one has no admin interface',
    EXIT_USAGE,
  );
}

function fileContent(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new CommandError(`ADMIN_TOKEN_FILE cannot be read: ${messageOf(error)}`, EXIT_USAGE);
  }
}

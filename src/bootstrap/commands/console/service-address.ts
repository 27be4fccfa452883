import { Option } from 'commander';
import { codeOf, messageOf } from '../../../application/errors/error-text.ts';
import { EXIT_UNAVAILABLE, EXIT_USAGE } from '../../exit-codes.ts';
import type { CommandContext } from './command-context.ts';
import { CommandError } from './command-error.ts';

const DEFAULT_URL = 'http://127.0.0.1:3000';
const NO_URL = { protocol: '', username: '', password: '' } as const;

/** How long a request of a command may take. */
const REQUEST_MS_MAX = 60_000;

/** The reply of a service as it came. */
export interface ServiceReply {
  readonly status: number;
  /** The word of `X-Error-Code`; null when the reply has none. */
  readonly code: string | null;
  readonly text: string;
}

/** Where the service is that a command speaks to. */
export function urlOption({ environment }: Pick<CommandContext, 'environment'>): Option {
  const url = environment.BARID_URL;
  return new Option('--url <url>', `where the service is; BARID_URL, or ${DEFAULT_URL}, without it`).default(
    url === undefined || url === '' ? DEFAULT_URL : url,
    // The help is the same everywhere.
    DEFAULT_URL,
  );
}

/**
 * The http or https URL that an option was given. Throws `CommandError` for what is none. A user or a password is none either:
 * fetch rejects it, and commands print their URLs.
 */
export function httpUrlOf(option: string, text: string): string {
  const { protocol, username, password } = URL.canParse(text) ? new URL(text) : NO_URL;
  if (/^https?:$/.test(protocol) && username === '' && password === '') return text;
  throw new CommandError(
    `${option} must be an http or https URL without user and password, such as ${DEFAULT_URL}`,
    EXIT_USAGE,
  );
}

/** The URL of `--url` without a slash at its end. Throws `CommandError`. */
export function serviceUrl(url: string): string {
  return httpUrlOf('--url', url).replace(/\/+$/, '');
}

/** One request to the service at `url`. Throws `CommandError` with `EXIT_UNAVAILABLE` when no reply comes. */
export async function requestService(url: string, path: string, init: RequestInit): Promise<ServiceReply> {
  try {
    // A key or token goes to this host only.
    const safe: RequestInit = { ...init, redirect: 'error', signal: AbortSignal.timeout(REQUEST_MS_MAX) };
    const response = await fetch(url + path, safe);
    const { status, headers } = response;
    return { status, code: headers.get('x-error-code'), text: await response.text() };
  } catch (error) {
    throw new CommandError(
      `${url} cannot be reached: ${reasonOf(error)}; start the service, or name its address with --url or BARID_URL`,
      EXIT_UNAVAILABLE,
    );
  }
}

/** Whether a key or token can stand in a header: characters of ASCII without spaces. */
export function isBearerToken(text: string): boolean {
  return /^[!-~]+$/.test(text);
}

/** fetch says why in the cause of its error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? codeOf(error.cause) : messageOf(error);
}

/** What a reply that is not a 200 says, in one line. */
export function errorText({ status, code, text }: ServiceReply): string {
  if (code === null) return `the reply has status ${status}, and is not one of Barid`;
  const { error, message } = Object(jsonOf(text)) as { error?: unknown; message?: unknown };
  return `${error ?? message ?? status} (${code})`;
}

/** The body of a reply; undefined when it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the service is away or too busy, and the same request may succeed later. */
export function isServiceAway({ status }: ServiceReply): boolean {
  return status === 502 || status === 503 || status === 504;
}

import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { BodyTrick, PathTrick, RequestAction } from './actions.ts';
import { toJson } from './schema-values.ts';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined sends none. */
  readonly body?: Buffer;
  readonly isChunked?: boolean;
}

export interface WireReply {
  /** 0 for a connection that was cut before the reply. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What the request has to be allowed to hold, beside what the document says (docs/api.md section 8). */
const BODY_BYTES_MAX = 32 * 1024;
const LONG_PATH_CHARACTERS = 5_000;

/** The request of an action whose references are replaced already. */
export function wireRequestOf(action: RequestAction, apiKey: string): WireRequest {
  const { operation, method, prefix, pathTrick, bodyTrick } = action;
  const filled = operation.path.replaceAll(/\{([A-Za-z_]+)\}/g, (_, name: string) =>
    encoded(textOf(action.path[name]), pathTrick),
  );
  const query = [
    new URLSearchParams(
      action.query.map(([name, value]): [string, string] => [name, textOf(value)]),
    ).toString(),
    action.rawQuery,
  ].filter((part) => part !== '');
  const path = withTrick(`${prefix}${filled}`, pathTrick) + (query.length === 0 ? '' : `?${query.join('&')}`);
  const authorization = action.authorization ?? `Bearer ${apiKey}`;
  const headers = {
    ...(operation.needsKey && authorization !== '' && { authorization }),
    ...action.headers,
  };
  if (action.body === undefined) return { method, path, headers };
  const { bytes, type, encoding } = bodyWith(toJson(action.body), bodyTrick);
  return {
    method,
    path,
    headers: {
      ...(type !== null && { 'content-type': type }),
      ...(encoding !== null && { 'content-encoding': encoding }),
      ...headers,
    },
    body: bytes,
    isChunked: bodyTrick === 'chunked',
  };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : toJson(value);
}

function encoded(text: string, trick: PathTrick | null): string {
  switch (trick) {
    case 'escaped':
      return escaped(text);
    case 'escaped twice':
      return escaped(text).replaceAll('%', '%25');
    case 'upper case':
      return uriPart(text.toUpperCase());
    case 'broken escape':
      return `${uriPart(text)}%`;
    case 'bytes that are not UTF-8':
      return `${uriPart(text)}%ff%c0%af`;
    case 'NUL':
      return `${uriPart(text)}%00`;
    case 'dots':
      return `..%2f${uriPart(text)}`;
    case 'very long':
      return text.replaceAll(/[^A-Za-z0-9-]/g, '').padEnd(LONG_PATH_CHARACTERS, '0');
    default:
      return uriPart(text);
  }
}

/** As `encodeURIComponent`, with the replacement character for halves of surrogate pairs. */
function uriPart(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

function escaped(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

function withTrick(path: string, trick: PathTrick | null): string {
  if (trick === 'slash behind') return `${path}/`;
  if (trick === 'two slashes') return `/${path}`;
  return trick === 'upper-case path' ? path.toUpperCase() : path;
}

interface SentBody {
  readonly bytes: Buffer;
  readonly type: string | null;
  readonly encoding: string | null;
}

const JSON_TYPE = 'application/json';

function bodyWith(json: string, trick: BodyTrick | null): SentBody {
  const text = Buffer.from(json);
  const plain: SentBody = { bytes: text, type: JSON_TYPE, encoding: null };
  const inText = (bytes: readonly number[]): SentBody => ({
    ...plain,
    bytes: Buffer.concat([
      text.subarray(0, text.length - 1),
      Buffer.from(',"x":"'),
      Buffer.from(bytes),
      Buffer.from('"}'),
    ]),
  });
  switch (trick) {
    case 'cut':
      return { ...plain, bytes: text.subarray(0, text.length - 1) };
    case 'more behind':
      return { ...plain, bytes: Buffer.from(`${json}{}`) };
    case 'byte order mark':
      return { ...plain, bytes: Buffer.from(`\uFEFF${json}`) };
    case 'UTF-16':
      return { ...plain, bytes: Buffer.from(json, 'utf16le') };
    case 'bytes that are not UTF-8':
      return inText([0xff]);
    case 'overlong UTF-8':
      return inText([0xc0, 0x80]);
    case 'surrogates in UTF-8':
      return inText([0xed, 0xa0, 0x80]);
    case 'compressed':
      return { ...plain, bytes: gzipSync(text), encoding: 'gzip' };
    case 'compressed only by its header':
      return { ...plain, encoding: 'gzip' };
    case 'form type':
      return { ...plain, type: 'application/x-www-form-urlencoded' };
    case 'text type':
      return { ...plain, type: 'text/plain' };
    case 'no type':
      return { ...plain, type: null };
    case 'type of another charset':
      return { ...plain, type: 'application/json; charset=utf-16' };
    case 'type in upper case':
      return { ...plain, type: 'APPLICATION/JSON; CHARSET="UTF-8"' };
    case 'type with parameters':
      return { ...plain, type: 'application/json; v=1; charset=utf-8; x="a;b"' };
    case 'as large as allowed':
      return { ...plain, bytes: Buffer.from(json.padEnd(BODY_BYTES_MAX - (text.length - json.length), ' ')) };
    case 'too large':
      return { ...plain, bytes: Buffer.from(json.padEnd(BODY_BYTES_MAX + 1, ' ')) };
    case 'equal keys':
      return { ...plain, bytes: Buffer.from(json.replace(/^\{("[^"]+":)/, '{$1null,$1')) };
    case 'empty':
      return { ...plain, bytes: Buffer.alloc(0) };
    case 'in a list':
      return { ...plain, bytes: Buffer.from(`[${json}]`) };
    case 'comment':
      return { ...plain, bytes: Buffer.from(`/**/${json}`) };
    default:
      return plain;
  }
}

/** Sends requests to one port, one after the other over one connection. */
export class WireClient {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(port: number) {
    this.#port = port;
  }

  send({ method, path, headers, body, isChunked = false }: WireRequest): Promise<WireReply> {
    return new Promise((resolve, reject) => {
      const length = body === undefined || isChunked ? {} : { 'content-length': body.length };
      const request = httpRequest({
        agent: this.#agent,
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        headers: { ...length, ...headers } as Record<string, string | string[]>,
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET') resolve({ status: 0, headers: {}, text: '' });
        else reject(error);
      });
      request.on('response', (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Readonly<Record<string, string>>,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      });
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

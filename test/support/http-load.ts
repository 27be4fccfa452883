import { connect } from 'node:net';
import { percentile } from './percentile.ts';

/** Makes a whole request. */
export type RequestMaker = () => Buffer;

/** Told of every response. */
export type ResponseListener = (body: string, status: number) => void;

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** No further request is sent after this many; as many as fit into the time when absent. */
  readonly requests?: number;
  readonly makeRequest: RequestMaker;
  readonly onResponse?: ResponseListener;
}

/** The responses that came in, with percentiles of their latency in milliseconds. */
export interface LoadResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly responses: number;
  /** Responses with another status than 200. */
  readonly failed: number;
}

/** Sends requests over raw keep-alive sockets, one in flight on each connection, until the time is over. */
export async function load({
  port,
  connections,
  seconds,
  requests = Number.POSITIVE_INFINITY,
  makeRequest,
  onResponse = () => {},
}: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  const started = performance.now();
  const until = started + seconds * 1000;
  let sent = 0;
  let failed = 0;
  const client = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      const reader = new ResponseReader();
      let sentAt = 0;
      const next = (): void => {
        if (sent >= requests || performance.now() >= until) {
          socket.end();
          return;
        }
        sent += 1;
        sentAt = performance.now();
        socket.write(makeRequest());
      };
      socket.setNoDelay(true);
      socket.on('connect', next);
      socket.on('data', (chunk) => {
        const response = reader.read(chunk);
        if (response === null) return;
        if (response.status !== 200) failed += 1;
        onResponse(response.body, response.status);
        latencies.push(performance.now() - sentAt);
        next();
      });
      socket.on('close', () => resolve());
      socket.on('error', reject);
    });
  await Promise.all(Array.from({ length: connections }, client));
  const elapsed = (performance.now() - started) / 1000;
  return {
    perSecond: latencies.length / elapsed,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    responses: latencies.length,
    failed,
  };
}

export interface Response {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Puts the chunks of one connection together, where the next request follows the response before. */
export class ResponseReader {
  #pending = '';

  /** The response, once its last chunk is there. */
  read(chunk: Buffer): Response | null {
    const text = chunk.toString('latin1');
    this.#pending = this.#pending === '' ? text : this.#pending + text;
    const headEnd = this.#pending.indexOf('\r\n\r\n');
    if (headEnd === -1) return null;
    const head = this.#pending.slice(0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#pending.length < headEnd + 4 + length) return null;
    const response = { status: Number(head.slice(9, 12)), head, body: this.#pending.slice(headEnd + 4) };
    this.#pending = '';
    return response;
  }
}

export interface SendOptions {
  readonly apiKey: string;
  readonly path?: string;
}

/** A POST /sms to a random number that begins with `prefix`, delivered by sms. */
export function smsRequest({
  apiKey,
  path = '/sms',
  prefix = '9647',
}: SendOptions & { readonly prefix?: string }): RequestMaker {
  const post = postTo(path, apiKey);
  const digits = 13 - prefix.length;
  return () => {
    const number = String(Math.floor(Math.random() * 10 ** digits)).padStart(digits, '0');
    return post(
      `{"phoneNumber":"${prefix}${number}","smsType":"verification","verificationCode":"123456","provider":"sms"}`,
    );
  };
}

/**
 * A POST /sms of any kind. Half of them are delivered by sms. The others go to test numbers: half of these fall
 * back from whatsapp to sms, and half fail on every channel, so that their hold is released.
 */
export function mixedRequest({ apiKey, path = '/sms' }: SendOptions): RequestMaker {
  const post = postTo(path, apiKey);
  const plain = smsRequest({ apiKey, path });
  return () => {
    if (Math.random() < 0.5) return plain();
    const outcome = Math.random() < 0.5 ? '0007' : '0006';
    const number = `999${100_000 + Math.floor(Math.random() * 900_000)}${outcome}`;
    return post(
      `{"phoneNumber":"${number}","smsType":"verification","verificationCode":"123456","provider":"whatsapp-sms"}`,
    );
  };
}

/** Makes whole requests of JSON bodies in ASCII. */
export function postTo(path: string, apiKey: string): (body: string) => Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\n`;
  return (body) => Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
}

/** A whole request without a body. */
export function getFrom(path: string, apiKey: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`);
}

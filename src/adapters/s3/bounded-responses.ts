import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { clearTimeout, setTimeout } from 'node:timers';
import type { TLSSocket } from 'node:tls';
import { BodyPieces, RESPONSE_PIECES } from '../../application/body-pieces.ts';
import { GrowingBuffer } from '../../application/growing-buffer.ts';

/** Requests and downloads at a time. */
const CONNECTIONS_MAX = 500;
/** The most that is read of a response, but for a file, in bytes. The client parses 32 KiB of XML in up to 30 ms. */
export const BUCKET_RESPONSE_BYTES_MAX = 32_768;
/** The most responses below 200 before the one that counts. No timeout of the client ends a flood of them. */
const INFORMATIONAL_RESPONSES_MAX = 10;
/** S3 sends none, and the client takes a time that grows with the square of their number. */
const DOCTYPE = /<!doctype/i;

const ENDED_TOO_SOON = 'The bucket ended its response too soon';

interface BucketAddress {
  readonly host: string;
  readonly port: number;
}

/** Opens connections to an address. */
export interface BucketConnections {
  /** The socket emits `connect`, or `error`. */
  readonly connectTcp: (address: BucketAddress) => Socket;
  /** For https. The socket emits `secureConnect`, or `error`. `timeoutMs` is to the end of the handshake, in milliseconds. */
  readonly connectTls: (address: BucketAddress & { readonly timeoutMs: number }) => TLSSocket;
}

/** Node's agents have this method, and its types do not. */
type RequestingAgent = Agent & { addRequest(request: ClientRequest, ...rest: unknown[]): void };

/**
 * The agents of a client. A request fails that gets too many responses below 200, or a body in too many small pieces. Opening TLS
 * takes `timeoutMs` at most.
 */
export function boundedAgents(
  { connectTcp, connectTls }: BucketConnections,
  timeoutMs: number,
): {
  readonly httpAgent: Agent;
  readonly httpsAgent: TlsAgent;
} {
  const options = { keepAlive: true, maxSockets: CONNECTIONS_MAX };
  const httpAgent = new Agent(options);
  const httpsAgent = new TlsAgent(options);
  httpAgent.createConnection = ({ host, port }) => connectTcp({ host: host ?? '', port: Number(port) });
  httpsAgent.createConnection = ({ host, port }) =>
    connectTls({ host: host ?? '', port: Number(port), timeoutMs });
  for (const agent of [httpAgent, httpsAgent] as RequestingAgent[]) {
    const addRequest = agent.addRequest.bind(agent);
    agent.addRequest = (request, ...rest) => {
      limitInformational(request);
      request.once('response', limitPieces);
      addRequest(request, ...rest);
    };
  }
  return { httpAgent, httpsAgent };
}

function limitInformational(request: ClientRequest): void {
  let count = 0;
  request.on('information', () => {
    count += 1;
    if (count <= INFORMATIONAL_RESPONSES_MAX) return;
    request.destroy(
      new Error(`The bucket sends more than ${INFORMATIONAL_RESPONSES_MAX} informational responses`),
    );
  });
}

/** Before anybody reads the body: a file is limited as it is passed on. */
function limitPieces(response: IncomingMessage): void {
  const pieces = new BodyPieces(RESPONSE_PIECES);
  const push = response.push.bind(response);
  response.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
    if (pieces.add(piece?.length ?? 0)) return push(piece, encoding);
    response.destroy(new Error('The bucket sends its response in too many small pieces'));
    return false;
  };
}

/**
 * Middleware that reads every response but a file before the client does. A body that is too long, takes longer than `responseMs`
 * or declares a document type fails the request.
 */
export function boundedResponses(responseMs: number) {
  return <Request, Result>(
    next: (request: Request) => Promise<Result>,
    { commandName }: { readonly commandName?: string },
  ): ((request: Request) => Promise<Result>) =>
    async (request) => {
      const result = await next(request);
      const { response } = result as { readonly response: { readonly statusCode: number; body: unknown } };
      const isFile = commandName === 'GetObjectCommand' && response.statusCode < 300;
      if (!isFile && response.body instanceof Readable) {
        const body = await bytesOf(response.body, responseMs);
        if (DOCTYPE.test(body.toString('latin1'))) throw new Error('The bucket declares a document type');
        response.body = Readable.from([body]);
      }
      return result;
    };
}

/** The whole body in one piece: the client would hold an object for each chunk of it. */
function bytesOf(body: Readable, responseMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // It may have failed before anybody listened.
    if (body.destroyed) return reject(body.errored ?? new Error(ENDED_TOO_SOON));
    const bytes = new GrowingBuffer(BUCKET_RESPONSE_BYTES_MAX);
    const late = setTimeout(() => body.destroy(new Error('The bucket responds too slowly')), responseMs);
    body.on('data', (chunk: Buffer) => {
      if (bytes.add(chunk)) return;
      body.destroy(new Error(`The bucket responds with more than ${BUCKET_RESPONSE_BYTES_MAX} bytes`));
    });
    body.once('end', () => resolve(bytes.bytes()));
    body.once('error', reject);
    body.once('close', () => {
      clearTimeout(late);
      reject(new Error(ENDED_TOO_SOON));
    });
  });
}

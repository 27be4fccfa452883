import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { HEADER_LINES_MAX } from '../../../../src/adapters/egress/header-lines.ts';
import {
  PROVIDER_CONNECTIONS_MAX,
  PROVIDER_REQUESTS_MAX,
  PROVIDER_REQUESTS_PER_CONNECTION_MAX,
  UndiciProviderHttp,
} from '../../../../src/adapters/egress/providers/undici-provider-http.ts';
import { PeerTime, PROVIDER_SHARES } from '../../../../src/adapters/egress/tls/peer-time.ts';
import type { PeerWork } from '../../../../src/adapters/egress/tls/peer-work.ts';
import {
  PROVIDER_RESPONSE_BYTES_MAX,
  type ProviderRequest,
  type ProviderResponse,
} from '../../../../src/application/ports/provider-http.ts';
import type { JobPriority } from '../../../../src/domain/jobs/job-priority.ts';
import { PLACES_PER_KEPT } from '../../../../src/domain/providers/submission-share.ts';
import { rejectedAs } from '../../../../src/domain/providers/submit-result.ts';
import { withCertificateAuthority } from '../../../support/certificates.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../../support/openssl.ts';
import { portOf } from '../../../support/port-of.ts';
import type { Behaviour } from '../../../support/tls-receiver.ts';
import { until } from '../../../support/until.ts';
import { certificates, closeAll, OK, receive } from '../webhooks/local-receivers.ts';

/** Notes whose work it is, and holds it while told to. */
class HoldingTime extends PeerTime {
  readonly owners = new Set<string>();
  readonly held: (() => void)[] = [];
  isHeld = false;

  override run(name: string, work: PeerWork): void {
    this.owners.add(name);
    if (this.isHeld) this.held.push(() => super.run(name, work));
    else super.run(name, work);
  }

  resume(): void {
    this.isHeld = false;
    for (const run of this.held.splice(0)) run();
  }
}

/** The deadline of requests that nobody responds to. */
const SOON_MS = 300;
/** So many requests of one project are in flight while none is slow. */
const OF_ONE_PROJECT = PROVIDER_REQUESTS_MAX - Math.ceil(PROVIDER_REQUESTS_MAX / PLACES_PER_KEPT);
/** So far away that no response is late on a busy machine. */
const FAR_MS = 15_000;

const opened: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
  await closeAll();
});

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server of this machine that records requests, and what they came over. */
async function serve(respond: (response: ServerResponse, seen: Seen, count: number) => void) {
  const requests: Seen[] = [];
  let connections = 0;
  const server = listening(
    createServer(((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const seen = { method, url, headers, body };
        requests.push(seen);
        server.emit('whole-request');
        respond(response, seen, requests.length);
      });
    }) satisfies RequestListener),
  );
  server.on('connection', () => {
    connections += 1;
  });
  await once(server, 'listening');
  return {
    server,
    requests,
    connections: () => connections,
    url: (path = '/send') => `http://127.0.0.1:${portOf(server)}${path}`,
    async arrived(count: number) {
      while (requests.length < count) await once(server, 'whole-request');
    },
  };
}

function listening<Kind extends Server | TcpServer>(server: Kind): Kind {
  server.listen(0, '127.0.0.1');
  opened.push({
    async close() {
      if (server.listening) server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
    },
  });
  return server;
}

/** Its requests stay fresh, however slow the machine is. */
function client(options: ConstructorParameters<typeof UndiciProviderHttp>[0] = {}): UndiciProviderHttp {
  const http = new UndiciProviderHttp({ timeoutMs: FAR_MS, freshMs: FAR_MS, ...options });
  opened.push(http);
  return http;
}

/** A port of this machine that nothing listens on. */
async function idlePort(): Promise<number> {
  const server = createTcpServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

describe('the HTTP client of a provider', () => {
  it('the HTTP client sends a request as it is written, and brings the whole response', async () => {
    const peer = await serve((response) => response.writeHead(202).end('{"id":"سڵاو"}'));
    const response = await client().send({
      method: 'POST',
      url: peer.url('/send?to=1%202'),
      headers: { 'content-type': 'application/json', 'X-Key': 'k1' },
      body: '{"text":"سڵاو 😀"}',
    });
    expect(response).toEqual({ kind: 'responded', status: 202, body: '{"id":"سڵاو"}' });
    expect(peer.requests).toMatchObject([
      {
        method: 'POST',
        url: '/send?to=1%202',
        headers: { 'content-type': 'application/json', 'x-key': 'k1', 'user-agent': 'Barid/1.0' },
        body: '{"text":"سڵاو 😀"}',
      },
    ]);
  });

  it.each([200, 301, 302, 307, 401, 429, 500, 503])(
    'the HTTP client brings status %i as it is',
    async (status) => {
      const peer = await serve((response) => response.writeHead(status, { location: '/other' }).end('x'));
      const response = await client().send({ method: 'GET', url: peer.url() });
      expect(response).toEqual({ kind: 'responded', status, body: 'x' });
      expect(peer.requests.map(({ url }) => url)).toEqual(['/send']);
    },
  );

  it('the HTTP client passes over interim responses', async () => {
    const peer = await serve((response) => {
      response.writeProcessing();
      response.writeHead(200).end('done');
    });
    expect(await client().send({ method: 'GET', url: peer.url() })).toEqual({
      kind: 'responded',
      status: 200,
      body: 'done',
    });
  });

  it('the HTTP client keeps its connections for later requests', async () => {
    const peer = await serve((response) => response.end('ok'));
    const http = client();
    for (let count = 0; count < 20; count += 1) {
      await http.send({ method: 'POST', url: peer.url(), body: 'x' });
    }
    expect(peer.requests).toHaveLength(20);
    // The second one opens while the first connection is just becoming free.
    expect(peer.connections()).toBeLessThanOrEqual(2);
  });

  /** Sends two requests, of which the second one breaks its connection, and two more. Returns what the latter say of theirs. */
  async function connectionHeadersAfterBreak(http: UndiciProviderHttp): Promise<readonly unknown[]> {
    const peer = await serve((response, _, count) => {
      if (count === 2) response.socket?.destroy();
      else response.end('ok');
    });
    const send = () => http.send({ method: 'POST', url: peer.url(), body: 'x' });
    expect([(await send()).kind, (await send()).kind]).toEqual(['responded', 'unclear']);
    expect([(await send()).kind, (await send()).kind]).toEqual(['responded', 'responded']);
    return peer.requests.slice(2).map(({ headers }) => headers.connection);
  }

  it('after a connection that ended in place of a response, each request is the last one on its own for a while', async () => {
    expect(await connectionHeadersAfterBreak(client())).toEqual(['close', 'close']);
    const forNoTime = client({ lastOnConnectionMs: 0 });
    expect(await connectionHeadersAfterBreak(forNoTime)).toEqual(['keep-alive', 'keep-alive']);
  });

  it('a response that began and breaks off leaves the others their connections', async () => {
    const peer = await serve((response, _, count) => {
      if (count > 1) return void response.end('ok');
      response.writeHead(200, { 'content-length': '10' }).write('x');
      setImmediate(() => response.socket?.destroy());
    });
    const http = client();
    expect(await http.send({ method: 'POST', url: peer.url() })).toMatchObject({ kind: 'unclear' });
    expect(await http.send({ method: 'POST', url: peer.url() })).toMatchObject({ status: 200 });
    expect(peer.requests.at(-1)?.headers.connection).toBe('keep-alive');
  });

  it('a request to a port that nothing listens on is not sent', async () => {
    const url = `http://127.0.0.1:${await idlePort()}/`;
    expect(await client().send({ method: 'POST', url })).toEqual({
      kind: 'not-sent',
      reason: 'The connection failed: ECONNREFUSED',
    });
  });

  it('a request to a host without an address is not sent', async () => {
    const response = await client().send({ method: 'POST', url: 'http://gateway.invalid/' });
    expect(response).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    });
  });

  it('a request is not sent when the handshake does not end before the deadline', async () => {
    const peer = listening(createTcpServer((socket) => socket.on('error', () => undefined)));
    await once(peer, 'listening');
    const url = `https://127.0.0.1:${portOf(peer)}/`;
    expect(await client({ timeoutMs: SOON_MS }).send({ method: 'POST', url })).toEqual({
      kind: 'not-sent',
      reason: `No response within ${SOON_MS} ms`,
    });
  });

  it('a request is not sent when the other side ends the handshake', async () => {
    const peer = listening(createTcpServer((socket) => socket.destroy()));
    await once(peer, 'listening');
    const url = `https://127.0.0.1:${portOf(peer)}/`;
    expect(await client().send({ method: 'POST', url })).toMatchObject({ kind: 'not-sent' });
  });

  it.each<[title: string, count: number, expected: object]>([
    ['ten informational responses is taken', 10, { kind: 'responded', status: 200, body: '{}' }],
    ['more is unclear, and its connection is closed', 11, { kind: 'unclear' }],
  ])('a response behind %s', async (_, count, expected) => {
    const closed: Promise<unknown>[] = [];
    const peer = listening(
      createTcpServer((socket) => {
        closed.push(once(socket, 'close'));
        socket.on('error', () => {});
        socket.once('data', () =>
          socket.write(
            `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(count)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`,
          ),
        );
      }),
    );
    await once(peer, 'listening');
    const http = client();
    const url = `http://127.0.0.1:${portOf(peer)}/`;
    expect(await http.send({ method: 'POST', url })).toMatchObject(expected);
    if (count > 10) await closed[0];
    else await http.close();
  });

  it.each<[string, string]>([
    ['headers', 'HTTP/1.1 200 OK\r\n'],
    ['trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n'],
  ])('a response with %s that have no end is unclear, and its connection is closed', async (_, head) => {
    const closed: Promise<unknown>[] = [];
    const peer = listening(
      createTcpServer((socket) => {
        closed.push(once(socket, 'close'));
        socket.on('error', () => {});
        socket.once('data', () => socket.write(head + 'x-a: b\r\n'.repeat(HEADER_LINES_MAX + 2)));
      }),
    );
    await once(peer, 'listening');
    const url = `http://127.0.0.1:${portOf(peer)}/`;
    expect(await client().send({ method: 'POST', url })).toEqual({
      kind: 'unclear',
      reason: 'The connection failed: ResponseTooLong',
    });
    await closed[0];
  });

  it('a body of many lines that are like headers is whole when they are indented', async () => {
    const body = JSON.stringify({ ids: Array.from({ length: 1_000 }, (_, id) => ({ id })) }, null, 2);
    const peer = await serve((response) => response.end(body));
    expect(await client().send({ method: 'GET', url: peer.url() })).toMatchObject({ body });
  });

  it('a connection is closed after as many requests as it may carry', async () => {
    const carried = new Map<unknown, number>();
    const peer = await serve((response) => {
      carried.set(response.socket, (carried.get(response.socket) ?? 0) + 1);
      response.end('{}');
    });
    const http = client();
    // On two connections at most, as above.
    for (let sent = 0; sent < 3 * PROVIDER_REQUESTS_PER_CONNECTION_MAX; sent += 1) {
      expect(await http.send({ method: 'POST', url: peer.url() })).toMatchObject({ status: 200 });
    }
    expect(Math.max(...carried.values())).toBe(PROVIDER_REQUESTS_PER_CONNECTION_MAX);
  });

  it('a request that waits for others too long is not sent, and those before it get their responses', async () => {
    const held: ServerResponse[] = [];
    const peer = await serve((response, { url }) => {
      if (url === '/later') response.end();
      else held.push(response);
    });
    const http = client({ waitMs: SOON_MS });
    const first = Array.from({ length: OF_ONE_PROJECT }, () =>
      http.send({ method: 'POST', url: peer.url('/first') }),
    );
    const last = http.send({ method: 'POST', url: peer.url('/last') });
    expect(await last).toEqual({ kind: 'limited', reason: 'More messages wait than the provider takes' });
    await peer.arrived(OF_ONE_PROJECT);
    for (const response of held) response.end();
    expect((await Promise.all(first)).every(({ kind }) => kind === 'responded')).toBe(true);
    expect(await http.send({ method: 'POST', url: peer.url('/later') })).toMatchObject({ kind: 'responded' });
    expect(peer.requests.map(({ url }) => url)).not.toContain('/last');
  });

  it('the HTTP client has capacity until its requests wait, and tells how many of a backlog do', async () => {
    const peer = await serve((response, { url }) => {
      if (url === '/later') response.end();
    });
    const http = client();
    const backlog = { priority: 'code', projectId: 'a' } as const;
    const other = { priority: 'code', projectId: 'b' } as const;
    const told: string[] = [];
    http.whenHandedOver(({ projectId }) => told.push(projectId));
    expect(http.capacity(backlog)).toEqual({
      free: PROVIDER_REQUESTS_MAX,
      passing: OF_ONE_PROJECT,
      waiting: 0,
      ahead: 0,
    });
    const sent = Array.from({ length: OF_ONE_PROJECT + 3 }, () =>
      http.send({ method: 'POST', url: peer.url('/first'), backlog }),
    );
    await peer.arrived(OF_ONE_PROJECT);
    const left = PROVIDER_REQUESTS_MAX - OF_ONE_PROJECT;
    expect(http.capacity(backlog)).toEqual({
      free: left - 3,
      passing: 0,
      waiting: 3,
      ahead: 3,
    });
    expect(http.capacity(other)).toEqual({
      free: left - 3,
      passing: Math.ceil(left / 2),
      waiting: 0,
      ahead: 3,
    });
    expect(told).toEqual(Array(OF_ONE_PROJECT).fill('a'));
    await http.close();
    await Promise.all(sent);
  });

  it('a provider that takes no more gets one request after the other at its rate, the most urgent first', async () => {
    const peer = await serve((response, { url }) => response.writeHead(url === '/first' ? 429 : 200).end());
    const http = client({ freshMs: SOON_MS });
    const send = (path: string, priority: JobPriority) =>
      http.send({ method: 'POST', url: peer.url(path), backlog: { priority, projectId: 'a' } });
    const first = await send('/first', 'code');
    expect(first).toMatchObject({ status: 429 });
    http.noteResult('a', first, rejectedAs('throttled', 'HTTP 429'));
    const throttledAt = performance.now();
    expect(http.capacity({ priority: 'code', projectId: 'a' })).toMatchObject({ passing: 0, ofRate: 0 });
    expect(http.capacity({ priority: 'code', projectId: 'b' })).not.toHaveProperty('ofRate');
    const sent = [send('/text', 'text'), send('/code', 'code')];
    expect(await Promise.all(sent)).toMatchObject([{ status: 200 }, { status: 200 }]);
    // It took little: at 7 a second the first goes out after 143 ms, and the other one 131 ms later.
    expect(performance.now() - throttledAt).toBeGreaterThan(265);
    expect(peer.requests.map(({ url }) => url)).toEqual(['/first', '/code', '/text']);
  });

  it('a result that is noted as soon as its response comes holds the request that would go out next', async () => {
    const held: ServerResponse[] = [];
    const peer = await serve((response, { url }) => {
      if (url === '/a') held.unshift(response);
      else held.push(response);
    });
    const http = client();
    const submit = async (projectId: string) => {
      const response = await http.send({
        method: 'POST',
        url: peer.url(`/${projectId}`),
        backlog: { priority: 'code', projectId },
      });
      http.noteResult(projectId, response, rejectedAs('throttled', 'HTTP 429'));
    };
    const others = Array.from({ length: PROVIDER_REQUESTS_MAX - 1 }, (_, index) => submit(`other-${index}`));
    const [first, second] = [submit('a'), submit('a')];
    await until(() => held.length === PROVIDER_REQUESTS_MAX);
    held[0]?.writeHead(429).end();
    await first;
    expect(http.capacity({ priority: 'code', projectId: 'a' })).toMatchObject({ waiting: 1, ofRate: 0 });
    await http.close();
    await Promise.all([...others, second]);
  });

  it('what got no response says nothing of the rate of its project', async () => {
    const http = client();
    const result = rejectedAs('throttled', 'HTTP 429');
    http.noteResult('a', { kind: 'not-sent', reason: 'ECONNREFUSED' }, result);
    http.noteResult('a', { kind: 'limited', reason: 'More messages wait' }, result);
    expect(http.capacity({ priority: 'code', projectId: 'a' })).not.toHaveProperty('ofRate');
  });

  it('of the requests that wait the codes are sent first, then projects in rotation', async () => {
    const held: ServerResponse[] = [];
    const peer = await serve((response, { url }) => {
      if (url === '/first') held.push(response);
      else response.end();
    });
    const http = client();
    const send = (path: string, priority: JobPriority, projectId: string) =>
      http.send({ method: 'POST', url: peer.url(path), backlog: { priority, projectId } });
    const sent = Array.from({ length: PROVIDER_REQUESTS_MAX }, (_, index) =>
      send('/first', 'text', `project ${index}`),
    );
    await peer.arrived(PROVIDER_REQUESTS_MAX);
    for (const path of ['/a1', '/a2', '/a3']) sent.push(send(path, 'text', 'a'));
    sent.push(send('/b1', 'text', 'b'));
    sent.push(send('/code', 'code', 'b'));
    // The others follow over its connection.
    held.shift()?.end();
    await peer.arrived(PROVIDER_REQUESTS_MAX + 5);
    for (const response of held) response.end();
    await Promise.all(sent);
    expect(peer.requests.slice(PROVIDER_REQUESTS_MAX).map(({ url }) => url)).toEqual([
      '/code',
      '/a1',
      '/b1',
      '/a2',
      '/a3',
    ]);
  });

  it('while requests of one project get no response, those of another are sent at once', async () => {
    const peer = await serve((response, { url }) => {
      if (url !== '/silent') response.end();
    });
    const http = client({ waitMs: SOON_MS });
    const send = (path: string, projectId: string) =>
      http.send({ method: 'POST', url: peer.url(path), backlog: { priority: 'code', projectId } });
    const silent = Array.from({ length: 2 * PROVIDER_REQUESTS_MAX }, () => send('/silent', 'a'));
    await peer.arrived(OF_ONE_PROJECT);
    for (const path of ['/1', '/2', '/3']) expect(await send(path, 'b')).toMatchObject({ kind: 'responded' });
    expect(await silent.at(-1)).toMatchObject({ kind: 'limited' });
    expect(peer.requests.filter(({ url }) => url === '/silent')).toHaveLength(OF_ONE_PROJECT);
  });

  it('requests without a response for long take no place of others, although many projects have them', async () => {
    const peer = await serve((response, { url }) => {
      if (url !== '/silent') response.end();
    });
    const http = client({ freshMs: SOON_MS });
    const send = (path: string, projectId: string) =>
      http.send({ method: 'POST', url: peer.url(path), backlog: { priority: 'code', projectId } });
    const silent = Array.from({ length: PROVIDER_REQUESTS_MAX }, (_, index) => send('/silent', `p${index}`));
    await peer.arrived(PROVIDER_REQUESTS_MAX);
    const [first, second] = await Promise.all([send('/1', 'b'), send('/2', 'b')]);
    expect([first.kind, second.kind]).toEqual(['responded', 'responded']);
    await http.close();
    expect((await Promise.all(silent)).every(({ kind }) => kind === 'unclear')).toBe(true);
  });

  it('no more connections are open than the limit, however many requests get no response', async () => {
    const peer = await serve(() => undefined);
    const http = client({ freshMs: 0, waitMs: SOON_MS });
    const sent = Array.from({ length: PROVIDER_CONNECTIONS_MAX + 10 }, (_, index) =>
      http.send({
        method: 'POST',
        url: peer.url(),
        backlog: { priority: 'code', projectId: `project ${index}` },
      }),
    );
    const limited = await Promise.all(sent.slice(PROVIDER_CONNECTIONS_MAX));
    expect(limited.every(({ kind }) => kind === 'limited')).toBe(true);
    await peer.arrived(PROVIDER_CONNECTIONS_MAX);
    expect(peer.connections()).toBe(PROVIDER_CONNECTIONS_MAX);
  });

  it('requests that wait are not sent when the client is closed', async () => {
    const peer = await serve(() => undefined);
    const http = client();
    const sent = Array.from({ length: OF_ONE_PROJECT + 2 }, () =>
      http.send({ method: 'POST', url: peer.url() }),
    );
    await peer.arrived(OF_ONE_PROJECT);
    await http.close();
    const kinds = (await Promise.all(sent)).map(({ kind }) => kind);
    expect(kinds.slice(-2)).toEqual(['not-sent', 'not-sent']);
    expect(peer.requests).toHaveLength(OF_ONE_PROJECT);
  });

  it.each(['GET', 'POST'] as const)(
    'a %s request that was reset is unclear, and not repeated',
    async (method) => {
      const peer = await serve((response) => response.destroy());
      const http = client();
      expect(await http.send({ method, url: peer.url() })).toMatchObject({ kind: 'unclear' });
      await http.send({ method, url: peer.url('/later') });
      expect(peer.requests.map(({ url }) => url)).toEqual(['/send', '/later']);
    },
  );

  it('a request that gets no response is unclear after the deadline', async () => {
    const peer = await serve(() => undefined);
    expect(await client({ timeoutMs: SOON_MS }).send({ method: 'POST', url: peer.url() })).toEqual({
      kind: 'unclear',
      reason: `No response within ${SOON_MS} ms`,
    });
  });

  it('a response that does not end before the deadline is unclear', async () => {
    const peer = await serve((response) => response.write('{"id":'));
    expect(await client({ timeoutMs: SOON_MS }).send({ method: 'POST', url: peer.url() })).toMatchObject({
      kind: 'unclear',
    });
  });

  it('a response that breaks off is unclear', async () => {
    const peer = await serve((response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"id":"1"', () => response.destroy());
    });
    expect(await client().send({ method: 'POST', url: peer.url() })).toMatchObject({ kind: 'unclear' });
  });

  it('a response in another protocol is unclear', async () => {
    const peer = listening(createTcpServer((socket) => socket.end('220 mail.example.com ESMTP\r\n')));
    await once(peer, 'listening');
    const url = `http://127.0.0.1:${portOf(peer)}/`;
    expect(await client().send({ method: 'POST', url })).toMatchObject({ kind: 'unclear' });
  });

  it('a response of the greatest length is whole', async () => {
    const peer = await serve((response) => response.end('x'.repeat(PROVIDER_RESPONSE_BYTES_MAX)));
    const response = await client().send({ method: 'GET', url: peer.url() });
    expect(response.kind === 'responded' && response.body.length).toBe(PROVIDER_RESPONSE_BYTES_MAX);
  });

  it('a response is whole that is as long as its request allows', async () => {
    const responseBytesMax = 3 * PROVIDER_RESPONSE_BYTES_MAX;
    const peer = await serve((response) => response.end('x'.repeat(responseBytesMax)));
    const response = await client().send({ method: 'GET', url: peer.url(), responseBytesMax });
    expect(response.kind === 'responded' && response.body.length).toBe(responseBytesMax);
  });

  it('a response that is longer is unclear, and its connection is closed', async () => {
    let isClosed = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const peer = await serve((response) => {
      response.socket?.on('close', isClosed);
      response.end('x'.repeat(10 * PROVIDER_RESPONSE_BYTES_MAX));
    });
    expect(await client().send({ method: 'GET', url: peer.url() })).toEqual({
      kind: 'unclear',
      reason: `The response has more than ${PROVIDER_RESPONSE_BYTES_MAX} bytes`,
    });
    await closed;
  });

  it.each<[title: string, body: string, expected: object]>([
    [
      'in a thousand small chunks with short extensions is taken',
      `${`1;${'e'.repeat(100)}\r\nx\r\n`.repeat(1_000)}0\r\n\r\n`,
      { kind: 'responded', status: 200, body: 'x'.repeat(1_000) },
    ],
    [
      'in a thousand and one small chunks is unclear',
      `${'1\r\nx\r\n'.repeat(1_001)}0\r\n\r\n`,
      { kind: 'unclear', reason: 'The response comes in too many small pieces' },
    ],
    [
      'in a thousand and one chunks of 65 bytes is taken',
      `${`41\r\n${'x'.repeat(65)}\r\n`.repeat(1_001)}0\r\n\r\n`,
      { kind: 'responded', status: 200, body: 'x'.repeat(65_065) },
    ],
    [
      'with more framing than any body has is unclear',
      `1;${'e'.repeat(2 * 65_536 + 32_768)}\r\nx\r\n0\r\n\r\n`,
      { kind: 'unclear', reason: 'The connection failed: ResponseTooLong' },
    ],
  ])('a response %s', async (_, body, expected) => {
    const peer = listening(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
        });
      }),
    );
    await once(peer, 'listening');
    const http = client();
    const url = `http://127.0.0.1:${portOf(peer)}/`;
    expect(await http.send({ method: 'GET', url })).toEqual(expected);
    await http.close();
  });

  it('the framing of each response on a connection counts for itself', async () => {
    const extension = 'e'.repeat(100_000);
    let connections = 0;
    const peer = listening(
      createTcpServer((socket) => {
        connections += 1;
        socket.on('error', () => undefined);
        socket.on('data', () => {
          socket.write(
            `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;${extension}\r\n{}\r\n0\r\n\r\n`,
          );
        });
      }),
    );
    await once(peer, 'listening');
    const http = client();
    const url = `http://127.0.0.1:${portOf(peer)}/`;
    for (let count = 0; count < 5; count += 1) {
      expect(await http.send({ method: 'GET', url })).toMatchObject({ kind: 'responded' });
    }
    // Of five responses on fewer connections, two on one are more than one may have.
    expect(connections).toBeLessThan(5);
    await http.close();
  });

  it('a request in flight is unclear when the client is closed, and later ones are not sent', async () => {
    const peer = await serve(() => undefined);
    const http = client();
    const sent = http.send({ method: 'POST', url: peer.url() });
    await peer.arrived(1);
    await http.close();
    await http.close();
    expect(await sent).toMatchObject({ kind: 'unclear' });
    expect(await http.send({ method: 'POST', url: peer.url() })).toMatchObject({ kind: 'not-sent' });
    expect(peer.requests).toHaveLength(1);
  });

  it.each<[string, string, Record<string, string>]>([
    ['no URL', 'gateway s3cret', {}],
    ['a URL of another scheme', 'ftp://127.0.0.1/s3cret', {}],
    ['a header with a line break', 'http://127.0.0.1:9/', { 'x-key': 's3cret\r\nx-other: 1' }],
    ['a header name with a blank', 'http://127.0.0.1:9/', { 'x key': 's3cret' }],
    ['a header that HTTP reserves', 'http://127.0.0.1:9/', { 'transfer-encoding': 's3cret' }],
  ])('a request with %s is not sent, and its reason quotes nothing', async (_, url, headers) => {
    const response = await client().send({ method: 'POST', url, headers });
    expect(response.kind).toBe('not-sent');
    expect(JSON.stringify(response)).not.toContain('s3cret');
  });
});

describe.skipIf(!hasOpenssl)(`the HTTP client over TLS (skipped when ${OPENSSL_MISSING})`, () => {
  const responding: Behaviour = (socket) => socket.write(OK);
  const sendTo = (port: number, host = 'localhost'): Promise<ProviderResponse> =>
    client({ ca: certificates?.ca ?? '' }).send({
      method: 'POST',
      url: `https://${host}:${port}/`,
      body: 'x',
    });

  it('the HTTP client trusts a certificate of the given authority', async () => {
    const peer = await receive(responding, certificates?.local);
    expect(await sendTo(peer.port)).toEqual({ kind: 'responded', status: 200, body: 'ok' });
  });

  it.each([
    ['of another host', 'good', /ERR_TLS_CERT_ALTNAME_INVALID/],
    ['that has expired', 'localExpired', /CERT_HAS_EXPIRED/],
    ['that vouches for itself', 'localSelfSigned', /SELF_SIGNED|UNABLE_TO_VERIFY/],
  ] as const)('a request to a server with a certificate %s is not sent', async (_, name, reason) => {
    const peer = await receive(responding, certificates?.[name]);
    expect(await sendTo(peer.port)).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringMatching(reason),
    });
    expect(peer.requests).toEqual([]);
  });

  it('no key is agreed on with a prime that the server chooses, and there is no second handshake', async () => {
    const { ca, pair } = withCertificateAuthority((authority) => ({
      ca: authority.ca,
      pair: authority.issue('localhost', 2, 'rsa'),
    }));
    const responseOf = async (behaviour: Behaviour, ciphers: string) => {
      const peer = await receive(behaviour, { ...pair, maxVersion: 'TLSv1.2', dhparam: 'auto', ciphers });
      return client({ ca }).send({ method: 'POST', url: `https://localhost:${peer.port}/` });
    };
    const ECDHE = 'ECDHE-RSA-AES128-GCM-SHA256';
    expect(await responseOf(responding, 'DHE-RSA-AES128-GCM-SHA256')).toMatchObject({ kind: 'not-sent' });
    expect(await responseOf(responding, ECDHE)).toMatchObject({ kind: 'responded' });
    const renegotiating: Behaviour = (socket) => socket.renegotiate({}, () => socket.write(OK));
    expect(await responseOf(renegotiating, ECDHE)).toMatchObject({ kind: 'unclear' });
  });

  it('what TLS computes for a provider is timed as its own, and waits while it is in debt', async () => {
    const peerTime = new HoldingTime(PROVIDER_SHARES);
    const http = client({ ca: certificates?.ca ?? '', name: 'gateway', peerTime });
    const peer = await receive(responding, certificates?.local);
    const request: ProviderRequest = { method: 'POST', url: `https://localhost:${peer.port}/` };
    expect(await http.send(request)).toMatchObject({ kind: 'responded' });
    expect([...peerTime.owners]).toEqual(['gateway']);
    peerTime.isHeld = true;
    let isSettled = false;
    const second = http.send(request).finally(() => {
      isSettled = true;
    });
    await until(() => peerTime.held.length > 0);
    expect(isSettled).toBe(false);
    peerTime.resume();
    expect(await second).toMatchObject({ kind: 'responded' });
  });

  it('a request whose connection comes after the deadline never goes out', async () => {
    let finishHandshake = (): void => undefined;
    const context = createSecureContext(certificates?.local);
    const peer = listening(
      createTlsServer({
        SNICallback(_, done) {
          finishHandshake = () => done(null, context);
        },
      }),
    );
    const first = new Promise<string>((resolve) => {
      peer.on('connection', (socket) => socket.on('close', () => resolve('close')));
      peer.on('secureConnection', (socket) => {
        socket.on('error', () => undefined);
        socket.on('data', () => resolve('data'));
      });
    });
    await once(peer, 'listening');
    const http = client({ ca: certificates?.ca ?? '', timeoutMs: SOON_MS });
    const url = `https://localhost:${portOf(peer)}/`;
    expect(await http.send({ method: 'POST', url, body: 'late' })).toMatchObject({ kind: 'not-sent' });
    finishHandshake();
    expect(await first).toBe('close');
  });
});

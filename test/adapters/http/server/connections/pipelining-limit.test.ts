import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionTable } from '../../../../../src/adapters/http/server/connections/connection-table.ts';
import {
  LOOSE_PIECES_MAX,
  REQUEST_PIECES,
  ROUND_PIECES,
} from '../../../../../src/adapters/http/server/connections/gathered-pieces.ts';
import { PARSER_STOPPED } from '../../../../../src/adapters/http/server/connections/node-parser.ts';
import { pipeliningLimit } from '../../../../../src/adapters/http/server/connections/pipelining-limit.ts';
import { UnreadConnections } from '../../../../../src/adapters/http/server/connections/unread-connections.ts';
import type { CallerGroup } from '../../../../../src/adapters/http/server/rounds/fair-rounds.ts';
import type { RoundTask } from '../../../../../src/adapters/http/server/rounds/pausing-rounds.ts';
import {
  PIPELINED_REQUEST_LINES,
  SERVER_LIMITS,
  WAITING_REQUESTS_MS_MAX,
} from '../../../../../src/adapters/http/server-limits.ts';
import { MinuteLog } from '../../../../../src/application/minute-log.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';
import { RawConnection } from '../../raw-connection.ts';

const AT_A_TIME = 3;
const OPEN_MAX = 10;
const LINES_MAX = 30;
/** Of one request. */
const HEADER_LINES_MAX = 12;
/** Of a round: eight requests behind the first with 3 lines each, or nine with 1 line each. */
const ROUND_LINES_MAX = 8 * (PIPELINED_REQUEST_LINES + 3) + 16;
/** More than 60 KB: one chunk, or nearly. */
const FLOOD = 2_000;
const KILOBYTE = 1024;
const LARGE_BODY_BYTES = 512 * KILOBYTE;
/** Node reads no more from a socket at a time. */
const CHUNK_BYTES_MAX = 64 * KILOBYTE;

let server: Server;
let connection: RawConnection;
/** The server's end of the connection. */
let socket: Socket;
let served: { path: string; reply: () => void }[];
let responses: ServerResponse[];
/** The codes of the client errors. */
let clientErrors: (string | undefined)[];
/** The paths of the responses that have closed. */
let closes: string[];
/** What a handler does at once. */
let onServed: () => void;
/** Whether clients are read at once; those that wait to be. */
let readsAtOnce: boolean;
/** What every request waits with. */
let group: CallerGroup;
/** The request with this path is taken when the test calls `takeHeld`. */
let heldPath: string | null;
let takeHeld: (() => void) | null;
let waitingToRead: RoundTask[];
/** Whether new connections come fast. */
let comesFast: boolean;
/** What requests have of a round, in milliseconds; null for what the server gives them. */
let roundMs: number | null;

beforeEach(async () => {
  served = [];
  responses = [];
  closes = [];
  clientErrors = [];
  onServed = () => undefined;
  readsAtOnce = true;
  comesFast = false;
  roundMs = null;
  waitingToRead = [];
  group = 'project';
  heldPath = null;
  takeHeld = null;
  server = createServer();
  const log = new MinuteLog({ clock: performance, logger: new RecordingLogger() });
  const reading = {
    mayGoOn: (_: string, reader: RoundTask) => {
      if (!readsAtOnce) waitingToRead.push(reader);
      return readsAtOnce;
    },
    drop: (reader: RoundTask) => {
      waitingToRead = waitingToRead.filter((each) => each !== reader);
    },
    noteRead: () => undefined,
  };
  const { serve } = pipeliningLimit(
    server,
    {
      ...SERVER_LIMITS,
      connectionRequestsMax: AT_A_TIME,
      connectionOpenRequestsMax: OPEN_MAX,
      connectionOpenLinesMax: LINES_MAX,
      headerLinesMax: HEADER_LINES_MAX,
      roundPipelinedLinesMax: ROUND_LINES_MAX,
    },
    {
      table: new ConnectionTable(server, 10),
      backlog: {
        roundMs: (msMax) => roundMs ?? msMax,
        get connectionsComeFast() {
          return comesFast;
        },
      },
      newConnections: reading,
      unreadBodies: reading,
      unread: new UnreadConnections(SERVER_LIMITS.unreadBytesMax, log),
      networkOf: () => '',
      queueKeyOf: () => ({ key: '', group }),
      serve(request, response) {
        const path = request.url ?? '';
        served.push({ path, reply: () => response.end(path) });
        onServed();
      },
    },
  );
  server.on('request', (request, response) => {
    responses.push(response);
    response.on('close', () => closes.push(request.url ?? ''));
    const take = () => serve(request, response);
    if (request.url === heldPath) takeHeld = take;
    else take();
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException) => clientErrors.push(code));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await connectAnew();
});

afterEach(async () => {
  connection.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function connectAnew(): Promise<void> {
  const connected = once(server, 'connection');
  connection = await RawConnection.open((server.address() as AddressInfo).port);
  [socket] = (await connected) as [Socket];
}

const gets = (first: number, last: number) =>
  Array.from(
    { length: last - first + 1 },
    (_, index) => `GET /p${first + index}. HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
const lined = (number: number, lines: number) =>
  `GET /p${number}. HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(lines - 1)}\r\n`;
const chunked = (chunks: readonly string[]) =>
  [
    'POST /p1. HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    ...chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`),
    '0\r\n\r\n',
  ].join('');
const paths = () => served.map(({ path }) => path);

async function untilServed(count: number): Promise<void> {
  while (served.length < count) await eventLoopRound();
}

/** Long enough for everything that is on its way within this process. */
async function rounds(): Promise<void> {
  for (let count = 0; count < 200; count += 1) await eventLoopRound();
}

function eventLoopRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('the pipelining limit', () => {
  it('serves the requests of a connection in order, one more for each response that went out', async () => {
    connection.write(gets(1, 6).join(''));
    await untilServed(AT_A_TIME);
    await rounds();
    expect(paths()).toEqual(['/p1.', '/p2.', '/p3.']);
    served[0]?.reply();
    await untilServed(4);
    await rounds();
    expect(paths()).toEqual(['/p1.', '/p2.', '/p3.', '/p4.']);
    for (const index of [3, 2, 1]) served[index]?.reply();
    await untilServed(6);
    for (const index of [5, 4]) served[index]?.reply();
    const received = await connection.until(/\/p6\./);
    expect(received.match(/\/p[0-9]\./g)).toEqual(['/p1.', '/p2.', '/p3.', '/p4.', '/p5.', '/p6.']);
  });

  it('serves one request of a chunk at once, and those behind it in later rounds of the event loop', async () => {
    onServed = () => served.at(-1)?.reply();
    let servedInChunk = 0;
    server.on('request', () => {
      servedInChunk = served.length;
    });
    connection.write(gets(1, OPEN_MAX).join(''));
    await connection.until(/\/p10\./);
    expect(servedInChunk).toBe(1);
  });

  it.each([
    ['the first', 1],
    ['a later', 2],
  ])('serves %s request of a connection not at once while new connections come fast', async (_, number) => {
    onServed = () => served.at(-1)?.reply();
    for (let earlier = 1; earlier < number; earlier += 1) {
      connection.write(gets(earlier, earlier).join(''));
      await connection.until(new RegExp(`/p${earlier}\\.`));
    }
    let servedInChunk = -1;
    server.on('request', () => {
      servedInChunk = served.length;
    });
    comesFast = true;
    connection.write(gets(number, number).join(''));
    await connection.until(new RegExp(`/p${number}\\.`));
    expect(servedInChunk).toBe(number - 1);
  });

  it('serves no request of a caller who has ended the connection behind it, while new connections come fast', async () => {
    comesFast = true;
    connection.write(gets(1, 1).join(''));
    connection.destroy();
    await once(socket, 'close');
    await rounds();
    expect(responses).toHaveLength(1);
    expect(paths()).toEqual([]);
  });

  it('closes a connection with a second request behind one that is not served yet, while new connections come fast', async () => {
    comesFast = true;
    connection.write(gets(1, FLOOD).join(''));
    await once(socket, 'close');
    await rounds();
    expect(responses).toHaveLength(1);
    expect(paths()).toEqual([]);
  });

  it('rejects a second request behind one that is served, while new connections come fast', async () => {
    connection.write(gets(1, 1).join(''));
    await untilServed(1);
    comesFast = true;
    connection.write(gets(2, FLOOD).join(''));
    while (clientErrors.length === 0) await eventLoopRound();
    expect([paths(), clientErrors]).toEqual([['/p1.'], [PARSER_STOPPED]]);
  });

  it('serves a request of a caller who does not wait for the reply, while few connections come', async () => {
    connection.write(gets(1, 1).join(''));
    connection.destroy();
    await once(socket, 'close');
    expect(paths()).toEqual(['/p1.']);
  });

  it.each([
    ['project', true],
    ['unknown', false],
  ] as const)(
    'serves the first request of a caller that is %s at once while others wait: %s',
    async (given, expected) => {
      group = given;
      // A machine that does other work may take the time of a round.
      roundMs = Number.POSITIVE_INFINITY;
      heldPath = '/p9.';
      const first = connection;
      await connectAnew();
      connection.write(gets(9, 9).join(''));
      while (takeHeld === null) await eventLoopRound();
      let isServedAtOnce = false;
      server.on('request', ({ url }) => {
        if (url !== '/p2.') return;
        takeHeld?.();
        isServedAtOnce = paths().includes('/p9.');
      });
      first.write(gets(1, 2).join(''));
      await untilServed(3);
      expect(isServedAtOnce).toBe(expected);
      first.destroy();
    },
  );

  it('serves requests of many connections at once for a short time, and the others in later rounds of the event loop', async () => {
    const first = connection;
    await connectAnew();
    const events: string[] = [];
    onServed = () => {
      events.push('served');
      setImmediate(() => events.push('round'));
      const until = performance.now() + WAITING_REQUESTS_MS_MAX;
      while (performance.now() < until);
    };
    first.write(gets(1, 1).join(''));
    connection.write(gets(2, 2).join(''));
    await untilServed(2);
    expect(events.slice(0, 3)).toEqual(['served', 'round', 'served']);
    first.destroy();
  });

  it('parses no more of a chunk than the requests that a connection may have', async () => {
    connection.write(gets(1, FLOOD).join(''));
    await untilServed(AT_A_TIME);
    const { bytesRead } = socket;
    connection.write(gets(1, FLOOD).join(''));
    for (const { reply } of served) reply();
    await untilServed(2 * AT_A_TIME);
    for (const { reply } of served) reply();
    await rounds();
    expect(responses).toHaveLength(OPEN_MAX);
    expect(clientErrors).toEqual([PARSER_STOPPED]);
    expect(socket.bytesRead).toBe(bytesRead);
  });

  it('parses no more requests of a chunk than their header lines allow together', async () => {
    connection.write(lined(1, 12) + lined(2, 12) + lined(3, 6) + lined(4, 1));
    while (clientErrors.length === 0) await eventLoopRound();
    expect([clientErrors, responses.length]).toEqual([[PARSER_STOPPED], 3]);
  });

  it('reads nothing more from a connection whose requests leave no place for the lines of one more, until one ends', async () => {
    connection.write(lined(1, 12) + lined(2, 7));
    await untilServed(2);
    const { bytesRead } = socket;
    connection.write(lined(3, 12));
    await rounds();
    expect(socket.bytesRead).toBe(bytesRead);
    served[1]?.reply();
    served[0]?.reply();
    await untilServed(3);
    expect([paths(), clientErrors]).toEqual([['/p1.', '/p2.', '/p3.'], []]);
  });

  it('reads on from a connection whose requests leave place for all lines of one more', async () => {
    connection.write(lined(1, 12) + lined(2, 6));
    await untilServed(2);
    connection.write(lined(3, 12));
    await untilServed(3);
    expect(clientErrors).toEqual([]);
  });

  it('parses no more requests behind others in a round than their lines allow, whatever it has had before', async () => {
    const ten = Array.from({ length: OPEN_MAX }, (_, index) => lined(index + 1, 3));
    connection.write(ten.join(''));
    while (clientErrors.length === 0) await eventLoopRound();
    expect([clientErrors, responses.length]).toEqual([[PARSER_STOPPED], 9]);
    await connectAnew();
    connection.write(lined(11, 3) + lined(12, 3));
    await untilServed(AT_A_TIME + 2);
    expect(paths().slice(-2)).toEqual(['/p11.', '/p12.']);
  });

  it('counts the trailers of a request among its lines', async () => {
    const trailed = (number: number, trailers: number) =>
      `POST /p${number}. HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(trailers)}\r\n`;
    connection.write(trailed(1, 10) + trailed(2, 10) + trailed(3, 10) + gets(4, 4).join(''));
    while (clientErrors.length === 0) await eventLoopRound();
    expect([clientErrors, responses.length]).toEqual([[PARSER_STOPPED], 3]);
    await connectAnew();
    connection.write(trailed(5, 11) + gets(6, 6).join(''));
    while (clientErrors.length < 3) await eventLoopRound();
    expect([clientErrors, responses.length]).toEqual([[PARSER_STOPPED, undefined, PARSER_STOPPED], 4]);
  });

  it.each([
    ['of one byte', REQUEST_PIECES.smallMax, 1],
    // One more than the least: where a read ends, a chunk is in two pieces.
    ['of 65 bytes', 3 * ROUND_PIECES.smallMax, ROUND_PIECES.bytesMin + 1],
  ])('gathers the chunks of a body that are %s, and changes nothing of it', async (_, count, length) => {
    const chunks = Array.from({ length: count }, (__, index) => String(index % 10).repeat(length));
    const read: Buffer[] = [];
    server.on('request', (request: IncomingMessage) => request.on('data', (piece) => read.push(piece)));
    connection.write(chunked(chunks) + gets(2, 2).join(''));
    await untilServed(2);
    expect(Buffer.concat(read).toString()).toBe(chunks.join(''));
    expect(read.length).toBeLessThan(LOOSE_PIECES_MAX + 2 + (count * length) / KILOBYTE);
    expect(clientErrors).toEqual([]);
  });

  it.each([
    ['of one byte', REQUEST_PIECES.smallMax + 1, 1],
    ['of 63 bytes', ROUND_PIECES.smallMax + 1, ROUND_PIECES.bytesMin - 1],
  ])('parses no more of a body with too many chunks %s at once', async (_, count, length) => {
    connection.write(chunked(Array.from({ length: count }, () => 'x'.repeat(length))) + gets(2, 2).join(''));
    while (clientErrors.length === 0) await eventLoopRound();
    await rounds();
    expect([clientErrors, responses.length]).toEqual([[undefined, PARSER_STOPPED], 1]);
  });

  it('counts the chunks of all bodies that a connection sends at once', async () => {
    const some = Array.from({ length: ROUND_PIECES.smallMax / 2 }, () => 'x');
    connection.write(chunked(some) + chunked(some) + chunked(['x']) + gets(4, 4).join(''));
    while (clientErrors.length === 0) await eventLoopRound();
    await rounds();
    expect([clientErrors, responses.length]).toEqual([[undefined, PARSER_STOPPED], 3]);
  });

  it('counts anew in each round of the event loop', async () => {
    const some = Array.from({ length: ROUND_PIECES.smallMax }, () => 'x');
    onServed = () => served.at(-1)?.reply();
    server.on('request', (request: IncomingMessage) => request.resume());
    for (const number of [1, 2, 3]) {
      connection.write(chunked(some));
      await untilServed(number);
      await rounds();
    }
    connection.write(gets(4, 4).join(''));
    await connection.until(/\/p4\./);
    expect(clientErrors).toEqual([]);
  });

  it.each([
    ['of one byte', 1],
    ['of 15 bytes', REQUEST_PIECES.bytesMin - 1],
  ])('parses no more of a body with too many chunks %s, however slowly they come', async (_, length) => {
    const chunk = `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`;
    connection.write('POST /p1. HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    await untilServed(1);
    const part = REQUEST_PIECES.smallMax / 4;
    for (let sent = 0; sent < REQUEST_PIECES.smallMax; sent += part) {
      expect(clientErrors).toEqual([]);
      const before = socket.bytesRead;
      connection.write(chunk.repeat(part));
      while (socket.bytesRead < before + chunk.length * part) await eventLoopRound();
      await rounds();
    }
    connection.write(chunk);
    while (clientErrors.length === 0) await eventLoopRound();
    expect(clientErrors).toEqual([undefined]);
  });

  it('reads no more of a body in small chunks that nobody takes than of another one', async () => {
    connection.write(chunked(Array.from({ length: 4_000 }, () => 'x'.repeat(100))));
    await untilServed(1);
    await rounds();
    expect(socket.isPaused()).toBe(true);
    expect(socket.bytesRead).toBeLessThanOrEqual(2 * CHUNK_BYTES_MAX);
  });

  it('finds no more pieces of a body that has too many, and the next body of its parser whole', async () => {
    let found = 0;
    server.on('request', (request: IncomingMessage) => {
      const push = request.push.bind(request);
      request.push = (piece, encoding) => {
        found += 1;
        return push(piece, encoding);
      };
    });
    connection.write(chunked(Array.from({ length: 4 * REQUEST_PIECES.smallMax }, () => 'x')));
    while (clientErrors.length === 0) await eventLoopRound();
    await rounds();
    // The end of the body is told once, if it was in the same read.
    expect(found).toBeLessThanOrEqual(REQUEST_PIECES.smallMax + 2);
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    await connectAnew();
    const read: Buffer[] = [];
    server.on('request', (request: IncomingMessage) => request.on('data', (piece) => read.push(piece)));
    connection.write(chunked(['whole', 'body']) + gets(2, 2).join(''));
    await untilServed(3);
    expect(Buffer.concat(read).toString()).toBe('wholebody');
  });

  it('serves no waiting request of a connection that has closed', async () => {
    connection.write(gets(1, 6).join(''));
    await untilServed(AT_A_TIME);
    socket.destroy();
    await rounds();
    expect(paths()).toEqual(['/p1.', '/p2.', '/p3.']);
  });

  it('closes every response once when the client leaves, also those that still wait for an earlier one', async () => {
    connection.write(gets(1, 5).join(''));
    await untilServed(AT_A_TIME);
    served[1]?.reply();
    socket.destroy();
    while (responses.some(({ destroyed }) => !destroyed)) await eventLoopRound();
    for (const { reply } of served) reply();
    await rounds();
    expect(closes.sort()).toEqual(['/p1.', '/p2.', '/p3.', '/p4.', '/p5.']);
  });

  it('reads nothing more from a connection at its limit, neither a request nor a body', async () => {
    const beginnings = [
      gets(4, 4).join(''),
      `POST /p4. HTTP/1.1\r\nHost: x\r\nContent-Length: ${KILOBYTE}\r\n\r\n`,
    ];
    for (const beginning of beginnings) {
      served = [];
      connection.destroy();
      await connectAnew();
      connection.write(gets(1, 3).join('') + beginning);
      await untilServed(AT_A_TIME);
      const { bytesRead } = socket;
      connection.write('\r\n'.repeat(KILOBYTE / 2));
      await rounds();
      expect(socket.bytesRead).toBe(bytesRead);
      served[0]?.reply();
      await untilServed(4);
      while (socket.bytesRead === bytesRead) await eventLoopRound();
    }
  });

  it('reads nothing from a new connection until it may', async () => {
    readsAtOnce = false;
    await connectAnew();
    connection.write('GET /p1. HTTP/1.1\r\nHost: x\r\n\r\n');
    await rounds();
    expect([socket.bytesRead, served.length]).toEqual([0, 0]);
    expect(waitingToRead).toHaveLength(1);
    waitingToRead[0]?.serveNext();
    await untilServed(1);
    expect(paths()).toEqual(['/p1.']);
  });

  it('does not wait to read a connection that has closed', async () => {
    readsAtOnce = false;
    await connectAnew();
    expect(waitingToRead).toHaveLength(1);
    socket.destroy();
    await once(socket, 'close');
    expect(waitingToRead).toEqual([]);
  });

  it.each([
    ['wanted', (request: IncomingMessage) => request.on('data', () => undefined)],
    ['thrown away', (request: IncomingMessage) => request.resume()],
  ])('reads one piece of a large body that is %s each time that it may go on', async (_, read) => {
    readsAtOnce = false;
    let hasEnded = false;
    server.on('request', (request: IncomingMessage) => {
      read(request).on('end', () => {
        hasEnded = true;
      });
    });
    connection.write(`POST /p1. HTTP/1.1\r\nHost: x\r\nContent-Length: ${LARGE_BODY_BYTES}\r\n\r\n`);
    connection.write('x'.repeat(LARGE_BODY_BYTES));
    await untilServed(1);
    let pieces = 0;
    while (!hasEnded) {
      while (waitingToRead.length === 0 && !hasEnded) await eventLoopRound();
      const { bytesRead } = socket;
      await rounds();
      expect(socket.bytesRead).toBe(bytesRead);
      pieces += 1;
      for (const reader of waitingToRead.splice(0)) reader.serveNext();
    }
    expect(pieces).toBeGreaterThanOrEqual(LARGE_BODY_BYTES / CHUNK_BYTES_MAX);
  });
});

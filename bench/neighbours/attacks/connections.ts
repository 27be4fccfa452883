import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from './target.ts';

const SLOW_HEADERS = 2_000;
const DRIPPING_INTERVAL_MS = 500;
const ADDRESSES = 150;
const PIPELINED_REQUESTS = 64;
/** Of every second connection: few lines, or as many as a request may have, with that of the host. */
const PIPELINED_LINES = [2, 97];
const CONNECTED_MS = 300;
/** Of `briefCallers`, and how long they are away then. */
const BRIEFLY_MS = 20;
const AWAY_MS = 60;
/** As many as a connection may have without a reply at most, and more. */
const BRIEF_REQUESTS = [1, 12, 20];
/** Chunks of one byte in a body of `smallChunks`: as many as one read of Node's may have. */
const SMALL_CHUNKS = 10_000;
/** Requests of `smallChunks` at once, and the trailers of each. */
const TRAILED_REQUESTS = 16;
const TRAILER_LINES = 95;
/** So many connections are opened at a time. */
const OPENED_AT_ONCE = 200;
const OPENING_INTERVAL_MS = 10;

/** Holds so many connections open, and opens those again that are closed; resolves with how many were opened. */
export async function holdConnections(
  { port, seconds }: Target,
  count: number,
  firstBytes: Buffer | null,
): Promise<number> {
  const open = new Set<Socket>();
  let opened = 0;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    for (let index = 0; index < OPENED_AT_ONCE && open.size < count; index += 1) {
      const socket = connect(port, '127.0.0.1');
      if (firstBytes !== null) socket.write(firstBytes);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
      socket.resume();
      open.add(socket);
      opened += 1;
    }
    await sleep(OPENING_INTERVAL_MS);
  }
  for (const socket of open) socket.destroy();
  return opened;
}

/**
 * Holds so many connections whose headers come byte by byte, and opens those again that are closed; resolves with how
 * many were opened, and with how long the slowest one stayed open, in milliseconds.
 */
export async function dripHeaders({ port, seconds }: Target): Promise<{ opened: number; longestMs: number }> {
  let longestMs = 0;
  const openedAt = new Map<Socket, number>();
  let opened = 0;
  const open = (): void => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => socket.write('POST /sms HTTP/1.1\r\nHost: x\r\nX-Slow: '));
    socket.on('error', () => {});
    socket.on('close', () => {
      const waitedMs = performance.now() - (openedAt.get(socket) ?? 0);
      if (openedAt.delete(socket)) longestMs = Math.max(longestMs, waitedMs);
    });
    socket.resume();
    openedAt.set(socket, performance.now());
    opened += 1;
  };
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    for (let index = 0; index < OPENED_AT_ONCE && openedAt.size < SLOW_HEADERS; index += 1) open();
    for (const socket of openedAt.keys()) if (!socket.connecting && socket.writable) socket.write('x');
    await sleep(openedAt.size < SLOW_HEADERS ? OPENING_INTERVAL_MS : DRIPPING_INTERVAL_MS);
  }
  for (const [socket, since] of [...openedAt]) {
    longestMs = Math.max(longestMs, performance.now() - since);
    openedAt.delete(socket);
    socket.destroy();
  }
  return { opened, longestMs };
}

/**
 * Sends many requests at once from many addresses, leaves without most replies and comes again; resolves with how many connections
 * were opened.
 */
export function pipelineHeads(target: Target): Promise<number> {
  const heads = PIPELINED_LINES.map((lines) => {
    const head = `GET /healthz HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(lines)}\r\n`;
    return head.repeat(PIPELINED_REQUESTS);
  });
  return comeAgain(target, heads);
}

/**
 * Asks with made-up keys and for made-up links from many addresses, and for more behind the first reply; leaves before most
 * replies and comes again soon.
 */
export function comeBriefly(target: Target): Promise<number> {
  const texts = BRIEF_REQUESTS.flatMap((count) => [
    `GET /info HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_live_${'0'.repeat(40)}\r\n\r\n`.repeat(count),
    `GET /reports/files/${'0'.repeat(40)} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count),
  ]);
  return comeAgain(target, texts, {
    connectedMs: BRIEFLY_MS,
    awayMs: AWAY_MS,
    behindReply: texts.at(-1) ?? '',
  });
}

/** Sends a chunked body of single bytes, or pipelined requests with many trailers, leaves and comes again. */
export function sendSmallChunks(target: Target): Promise<number> {
  const chunked = 'POST /sms HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const trailed = `${chunked}0\r\n${'a: b\r\n'.repeat(TRAILER_LINES)}\r\n`;
  return comeAgain(target, [chunked + '1\r\nx\r\n'.repeat(SMALL_CHUNKS), trailed.repeat(TRAILED_REQUESTS)]);
}

/**
 * Sends one of the texts from each of many addresses, in turn, and `behindReply` behind the first reply, leaves and comes again.
 * Resolves with the connections opened.
 */
async function comeAgain(
  { port, seconds }: Target,
  texts: readonly string[],
  { connectedMs, awayMs, behindReply } = { connectedMs: CONNECTED_MS, awayMs: 0, behindReply: '' },
): Promise<number> {
  const sent = texts.map((text) => Buffer.from(text));
  const end = performance.now() + seconds * 1000;
  let opened = 0;
  const from = async (localAddress: string): Promise<void> => {
    while (performance.now() < end) {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      opened += 1;
      await new Promise<void>((resolve) => {
        socket.on('connect', () => {
          socket.write(sent[opened % sent.length] ?? '');
          setTimeout(() => socket.destroy(), connectedMs);
        });
        if (behindReply !== '') socket.once('data', () => socket.write(behindReply));
        socket.on('error', () => {});
        socket.on('close', () => resolve());
        socket.resume();
      });
      if (awayMs > 0) await sleep(awayMs);
    }
  };
  const addresses = Array.from({ length: ADDRESSES }, (_, index) => `127.0.1.${index + 1}`);
  await Promise.all(addresses.map(from));
  return opened;
}

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { serve } from '../../test/support/child-process.ts';
import { load, postTo, smsRequest } from '../../test/support/http-load.ts';
import { LOAD_API_KEY, LOAD_NUMBER_ID, LOAD_TEMPLATE_ID } from '../../test/support/load-seed.ts';
import { portOf } from '../../test/support/port-of.ts';

/** Does what other projects and callers without a key may do to a service. It listens as a receiver that never responds. */
const { RECEIVER_KEY = '', RECEIVER_CERT = '' } = process.env;
const STORM_CONNECTIONS = 64;
const MADE_UP_KEY_CONNECTIONS = 100;
const ENDLESS_BODIES = 4_100;
const IDLE_CONNECTIONS = 10_000;
const SLOW_HEADERS = 2_000;
const DRIPPING_INTERVAL_MS = 500;
/** So many campaigns run at a time. One after the other, at the rate of their number, they take so many milliseconds. */
const CAMPAIGNS = 20;
const CAMPAIGNS_MS = 20_000;
const RECIPIENTS = 1_000;
const LOCKED_CONNECTIONS = 4;
/** Messages whose receipts come while their account is locked. */
const SENT_BEFORE_LOCK = 100;
/** So many connections are opened at a time. */
const OPENED_AT_ONCE = 200;
const OPENING_INTERVAL_MS = 10;
let longestDripMs = 0;

interface Target {
  readonly port: number;
  readonly seconds: number;
  /** Of the service. */
  readonly databaseUrl: string;
}

const handlers = {
  nothing: ({ seconds }: Target): Promise<number> => sleep(seconds * 1000, 0),
  storm: (target: Target): Promise<number> =>
    sendRequests(target, STORM_CONNECTIONS, smsRequest({ apiKey: LOAD_API_KEY })),
  hangingReceivers: (target: Target): Promise<number> =>
    sendRequests(target, STORM_CONNECTIONS, failingRequest()),
  madeUpKeys: (target: Target): Promise<number> =>
    sendRequests(target, MADE_UP_KEY_CONNECTIONS, madeUpKeyRequest),
  endlessBodies: (target: Target): Promise<number> => {
    const head = postTo('/sms', LOAD_API_KEY)('x'.repeat(1_000)).subarray(0, -1_000);
    return holdConnections(target, ENDLESS_BODIES, head);
  },
  idleConnections: (target: Target): Promise<number> => holdConnections(target, IDLE_CONNECTIONS, null),
  slowHeaders: (target: Target): Promise<number> => dripHeaders(target),
  /** How long the slowest connection of `slowHeaders` stayed open, in milliseconds. */
  longestDripMs: (): number => longestDripMs,
  campaigns: async ({ port, seconds }: Target): Promise<number> => {
    const end = performance.now() + seconds * 1000;
    let started = 0;
    while (performance.now() < end) {
      const next = performance.now() + CAMPAIGNS_MS;
      for (let index = 0; index < CAMPAIGNS; index += 1) {
        await runCampaign(port, started * RECIPIENTS);
        started += 1;
      }
      await sleep(Math.max(0, next - performance.now()));
    }
    return started * RECIPIENTS;
  },
  lockedAccount: async (target: Target): Promise<number> => {
    const makeRequest = smsRequest({ apiKey: LOAD_API_KEY });
    const connections = LOCKED_CONNECTIONS;
    await load({ ...target, connections, requests: SENT_BEFORE_LOCK, makeRequest });
    const [responses] = await Promise.all([
      sendRequests(target, connections, makeRequest),
      holdAccountLock(target),
    ]);
    return SENT_BEFORE_LOCK + responses;
  },
};
export type AttackerHandlers = typeof handlers;

/** Sends as fast as responses come; resolves with their number. */
async function sendRequests(
  { port, seconds }: Target,
  count: number,
  makeRequest: () => Buffer,
): Promise<number> {
  const { responses } = await load({ port, seconds, connections: count, makeRequest });
  return responses;
}

/** Messages that fail on every channel, each with a webhook address of its own at this server, which never responds. */
function failingRequest(): () => Buffer {
  const post = postTo('/sms', LOAD_API_KEY);
  let sent = 0;
  return () => {
    sent += 1;
    return post(
      JSON.stringify({
        phoneNumber: `999${String(sent % 1_000_000).padStart(6, '0')}0006`,
        smsType: 'verification',
        verificationCode: '123456',
        provider: 'sms',
        deliveryReport: { webhookUrl: `https://localhost:${portOf(server)}/${sent}` },
      }),
    );
  };
}

/** Keys of the form that has no checksum, so that only the database can tell that they are unknown. */
function madeUpKeyRequest(): Buffer {
  return smsRequest({ apiKey: `sk_dev_${randomBytes(22).toString('hex')}` })();
}

/** Holds so many connections open, and opens those again that are closed; resolves with how many were opened. */
async function holdConnections(
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
 * many were opened.
 */
async function dripHeaders({ port, seconds }: Target): Promise<number> {
  const openedAt = new Map<Socket, number>();
  let opened = 0;
  const open = (): void => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => socket.write('POST /sms HTTP/1.1\r\nHost: x\r\nX-Slow: '));
    socket.on('error', () => {});
    socket.on('close', () => {
      const waitedMs = performance.now() - (openedAt.get(socket) ?? 0);
      if (openedAt.delete(socket)) longestDripMs = Math.max(longestDripMs, waitedMs);
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
    longestDripMs = Math.max(longestDripMs, performance.now() - since);
    openedAt.delete(socket);
    socket.destroy();
  }
  return opened;
}

/** Starts a campaign; `first` is the number of its first recipient. */
async function runCampaign(port: number, first: number): Promise<void> {
  const plan = { name: 'Attack', templateId: LOAD_TEMPLATE_ID, phoneNumberId: LOAD_NUMBER_ID };
  const { data } = await postJson(port, '/whatsapp/campaigns', plan);
  const recipients = Array.from({ length: RECIPIENTS }, (_, index) => ({
    phoneNumber: `9647${String(first + index).padStart(9, '0')}`,
    templateParameters: { body: { 1: 'Layla' } },
  }));
  await postJson(port, `/whatsapp/campaigns/${data._id}/recipients`, { recipients });
  await postJson(port, `/whatsapp/campaigns/${data._id}/start`, undefined);
}

async function postJson(port: number, path: string, body: unknown): Promise<{ data: { _id: string } }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${LOAD_API_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { data: { _id: string } };
}

/** Locks the account of the attacking project, as an operator may whose transaction stays open. */
async function holdAccountLock({ databaseUrl, seconds }: Target): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query(
    "SELECT * FROM accounts WHERE project_id = (SELECT id FROM projects WHERE slug = 'bench') FOR UPDATE",
  );
  await sleep(seconds * 1000);
  await client.end();
}

const server = createServer(
  { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT) },
  (request) => void request.resume(),
);
server.listen(0, 'localhost', () => serve(portOf(server), handlers));

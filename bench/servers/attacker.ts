import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '../../test/support/child-process.ts';
import { load, postTo, smsRequest } from '../../test/support/http-load.ts';
import { LOAD_API_KEY } from '../../test/support/load-seed.ts';
import { portOf } from '../../test/support/port-of.ts';

/** Does what other projects and callers without a key may do to a service. It listens as a receiver that never responds. */
const { RECEIVER_KEY = '', RECEIVER_CERT = '' } = process.env;
const STORM_CONNECTIONS = 64;
const MADE_UP_KEY_CONNECTIONS = 100;
const ENDLESS_BODIES = 4_100;
const IDLE_CONNECTIONS = 10_000;
/** So many connections are opened at a time. */
const OPENED_AT_ONCE = 200;

interface Target {
  readonly port: number;
  readonly seconds: number;
}

const handlers = {
  nothing: ({ seconds }: Target): Promise<number> => sleep(seconds * 1000, 0),
  storm: (target: Target): Promise<number> =>
    sendRequests(target, STORM_CONNECTIONS, smsRequest({ apiKey: LOAD_API_KEY })),
  hangingReceivers: (target: Target): Promise<number> =>
    sendRequests(target, STORM_CONNECTIONS, failingRequest()),
  madeUpKeys: (target: Target): Promise<number> =>
    sendRequests(target, MADE_UP_KEY_CONNECTIONS, () => madeUpKeyRequest()),
  endlessBodies: (target: Target): Promise<number> => {
    const head = postTo('/sms', LOAD_API_KEY)('x'.repeat(1_000)).subarray(0, -1_000);
    return holdConnections(target, ENDLESS_BODIES, head);
  },
  idleConnections: (target: Target): Promise<number> => holdConnections(target, IDLE_CONNECTIONS, null),
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
    await sleep(10);
  }
  for (const socket of open) socket.destroy();
  return opened;
}

const server = createServer(
  { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT) },
  (request) => void request.resume(),
);
server.listen(0, 'localhost', () => serve(portOf(server), handlers));

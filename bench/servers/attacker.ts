import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { costlyChain } from '../../test/support/certificates.ts';
import { serve } from '../../test/support/child-process.ts';
import { load, postTo, type RequestMaker, smsRequest } from '../../test/support/http-load.ts';
import { LOAD_API_KEY } from '../../test/support/load-seed.ts';
import { portOf } from '../../test/support/port-of.ts';
import { runCampaigns, runLargeCampaigns, sendLargeBodies } from '../neighbours/attacks/campaigns.ts';
import {
  comeBriefly,
  dripHeaders,
  holdConnections,
  pipelineHeads,
  sendSmallChunks,
} from '../neighbours/attacks/connections.ts';
import { FloodingSmsc } from '../neighbours/attacks/flooding-smsc.ts';
import { forgeMessages } from '../neighbours/attacks/forged-messages.ts';
import { readLists } from '../neighbours/attacks/lists.ts';
import { holdAccountLock, holdFileLock } from '../neighbours/attacks/locks.ts';
import type { Target } from '../neighbours/attacks/target.ts';

/** Does what other projects and callers without a key may do to a service. It listens as a receiver that never responds, and as an SMSC. */
const { RECEIVER_KEY = '', RECEIVER_CERT = '' } = process.env;
const STORM_CONNECTIONS = 64;
/** As many as the service reads in a handshake. */
const CHAIN_CERTIFICATES = 11;
/** Lines of two letters and a colon, as many as a response may have bytes for: the service reads those of one TLS record. */
const HEADER_LINES = 12_800;
const MANY_HEADERS = `HTTP/1.1 200 OK\r\n${headerLines()}Content-Length: 0\r\n\r\n`;
/** Messages to hostile receivers, in all, each with an endpoint of its own. */
const HOSTILE_MESSAGES = 2_000;
const HOSTILE_CONNECTIONS = 4;
/** As long as both may be, or nearly so. */
const LONG_TEXT = 'x'.repeat(990);
const LONG_PATH = 'y'.repeat(1_900);
const MADE_UP_KEY_CONNECTIONS = 100;
const MADE_UP_KEY_BYTES = 20;
const ENDLESS_BODIES = 4_100;
const IDLE_CONNECTIONS = 10_000;
const LOCKED_CONNECTIONS = 4;
/** Messages whose receipts come while their account is locked. */
const SENT_BEFORE_LOCK = 100;
/** Accepting a message for each endpoint that hangs may take so many times as long as other attacks. */
const HANGING_TIMES = 4;
let longestDripMs = 0;
const smsc = new FloodingSmsc();

const handlers = {
  nothing: ({ seconds }: Target): Promise<number> => sleep(seconds * 1000, 0),
  storm: (target: Target): Promise<number> =>
    sendRequests(target, STORM_CONNECTIONS, smsRequest({ apiKey: LOAD_API_KEY })),
  hangingReceivers: async ({ port, seconds, endpoints }: Target): Promise<number> => {
    const { responses } = await load({
      port,
      seconds: HANGING_TIMES * seconds,
      requests: endpoints,
      connections: STORM_CONNECTIONS,
      makeRequest: failingRequest(),
    });
    return responses;
  },
  longAddresses: (target: Target): Promise<number> => {
    server.on('request', (_, response: ServerResponse) => void response.writeHead(204).end());
    return sendRequests(target, STORM_CONNECTIONS, longAddressRequest());
  },
  costlyCertificates: (target: Target): Promise<number> => {
    server.setSecureContext(costlyChain(CHAIN_CERTIFICATES));
    return sendToHostileReceivers(target);
  },
  manyHeaders: (target: Target): Promise<number> => {
    server.on('request', ({ socket }) => socket.write(MANY_HEADERS));
    return sendToHostileReceivers(target);
  },
  floodingSmsc: (target: Target): Promise<number> => smsc.flood(target),
  /** Lets the SMSC listen; resolves with its port. */
  smscPort: (): Promise<number> => smsc.listen(),
  madeUpKeys: (target: Target): Promise<number> =>
    sendRequests(target, MADE_UP_KEY_CONNECTIONS, madeUpKeyRequest),
  endlessBodies: (target: Target): Promise<number> => {
    const head = postTo('/sms', LOAD_API_KEY)('x'.repeat(1_000)).subarray(0, -1_000);
    return holdConnections(target, ENDLESS_BODIES, head);
  },
  idleConnections: (target: Target): Promise<number> => holdConnections(target, IDLE_CONNECTIONS, null),
  slowHeaders: async (target: Target): Promise<number> => {
    const { opened, longestMs } = await dripHeaders(target);
    longestDripMs = longestMs;
    return opened;
  },
  /** How long the slowest connection of `slowHeaders` stayed open, in milliseconds. */
  longestDripMs: (): number => longestDripMs,
  pipelinedHeads: pipelineHeads,
  briefCallers: comeBriefly,
  smallChunks: sendSmallChunks,
  campaigns: runCampaigns,
  largeCampaigns: runLargeCampaigns,
  largeBodies: sendLargeBodies,
  lists: readLists,
  lockedAccount: async (target: Target): Promise<number> => {
    const { port, seconds } = target;
    const makeRequest = smsRequest({ apiKey: LOAD_API_KEY });
    const connections = LOCKED_CONNECTIONS;
    await load({ port, seconds, connections, requests: SENT_BEFORE_LOCK, makeRequest });
    const [responses] = await Promise.all([
      sendRequests(target, connections, makeRequest),
      holdAccountLock(target),
    ]);
    return SENT_BEFORE_LOCK + responses;
  },
  lockedFile: holdFileLock,
  forgedMessage: forgeMessages,
};
export type AttackerHandlers = typeof handlers;

/** Sends as fast as responses come; resolves with their number. */
async function sendRequests(
  { port, seconds }: Target,
  connections: number,
  makeRequest: RequestMaker,
): Promise<number> {
  const { responses } = await load({ port, seconds, connections, makeRequest });
  return responses;
}

/** Sends the messages evenly over the time of the attack; resolves with the number of responses. */
async function sendToHostileReceivers({ port, seconds }: Target): Promise<number> {
  const makeRequest = failingRequest();
  const requests = Math.ceil(HOSTILE_MESSAGES / seconds);
  let sent = 0;
  for (let second = 0; second < seconds; second += 1) {
    const [{ responses }] = await Promise.all([
      load({ port, seconds: 1, requests, connections: HOSTILE_CONNECTIONS, makeRequest }),
      sleep(1_000),
    ]);
    sent += responses;
  }
  return sent;
}

function headerLines(): string {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const names = letters.flatMap((first) => letters.map((second) => `${first}${second}`));
  return Array.from({ length: HEADER_LINES }, (_, line) => `${names[line % names.length]}:\r\n`).join('');
}

/** Messages that fail on every channel, each with a webhook address of its own at this server, which never responds. */
function failingRequest(): RequestMaker {
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

/** Long texts, each with a long webhook address of its own. */
function longAddressRequest(): RequestMaker {
  const post = postTo('/sms', LOAD_API_KEY);
  let sent = 0;
  return () => {
    sent += 1;
    return post(
      JSON.stringify({
        phoneNumber: `9647${String(sent).padStart(9, '0')}`,
        smsType: 'custom',
        customMessage: LONG_TEXT,
        provider: 'sms',
        deliveryReport: { webhookUrl: `https://localhost:${portOf(server)}/${sent}/${LONG_PATH}` },
      }),
    );
  };
}

/** Keys of the form that has no checksum, so that only the database can tell that they are unknown. */
function madeUpKeyRequest(): Buffer {
  return smsRequest({ apiKey: `sk_dev_${randomBytes(MADE_UP_KEY_BYTES).toString('hex')}` })();
}

const server = createServer(
  { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT) },
  (request) => void request.resume(),
);
server.listen(0, 'localhost', () => serve(portOf(server), handlers));

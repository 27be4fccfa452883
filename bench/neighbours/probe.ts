import { Agent, type RequestOptions, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { FRESH_API_KEYS, NEIGHBOUR } from './seed.ts';

const INTERVAL_MS = 100;
/** Every second code comes on a new connection, and every tenth of all with a key that was never used before. */
const NEW_CONNECTION_EVERY = 2;
const FRESH_KEY_EVERY = 10;
/** Keys without a checksum are limited for each address: somebody who makes them up has another one. */
const OTHER_ADDRESS = '127.0.0.2';
/** A client that waits for longer has given up. */
const TIMEOUT_MS = 30_000;

/** One send of the neighbour; instants are milliseconds since 1970. */
export interface Probe {
  readonly sentAt: number;
  readonly replyMs: number;
  /** 0 without a reply. */
  readonly status: number;
  readonly smsId: string | null;
}

/** One request of `/healthz`: when it was sent, and how long the reply took; for ever when it was not 200. */
export interface HealthProbe {
  readonly sentAt: number;
  readonly replyMs: number;
}

export interface Probed {
  readonly codes: readonly Probe[];
  readonly health: readonly HealthProbe[];
  /** When the attack ended. */
  readonly endedAt: number;
}

interface Neighbour {
  readonly port: number;
  readonly webhookUrl: string;
}

/** Sends a code of the neighbour by the clock, and asks `/healthz`, until `attack` has ended and `afterMs` more are over. */
export async function probe({
  attack,
  afterMs,
  ...neighbour
}: Neighbour & { readonly attack: Promise<unknown>; readonly afterMs: number }): Promise<Probed> {
  const agent = new Agent({ keepAlive: true });
  let endedAt = Number.POSITIVE_INFINITY;
  const attacked = attack.then(() => {
    endedAt = Date.now();
  });
  const codes: Promise<Probe>[] = [];
  const health: Promise<HealthProbe>[] = [];
  while (Date.now() < endedAt + afterMs) {
    health.push(askHealth(neighbour.port, agent));
    codes.push(send(neighbour, codes.length, agent));
    await sleep(INTERVAL_MS);
  }
  await attacked;
  const probed = { codes: await Promise.all(codes), health: await Promise.all(health), endedAt };
  agent.destroy();
  return probed;
}

async function send({ port, webhookUrl }: Neighbour, index: number, agent: Agent): Promise<Probe> {
  const sentAt = Date.now();
  const startedAt = performance.now();
  const digits = String(Math.floor(Math.random() * 1e9)).padStart(9, '0');
  const body = JSON.stringify({
    phoneNumber: `9647${digits}`,
    smsType: 'verification',
    verificationCode: '123456',
    provider: 'sms',
    deliveryReport: { webhookUrl },
  });
  const { status, text } = await exchange({ port, ...connectionOf(index, agent) }, body);
  const { smsId = null } = status === 200 ? (JSON.parse(text) as { smsId?: string }) : {};
  return { sentAt, replyMs: performance.now() - startedAt, status, smsId };
}

/** The key, the connection and the address of a code. */
function connectionOf(index: number, agent: Agent): RequestOptions {
  const options = (apiKey: string): RequestOptions => ({
    method: 'POST',
    path: '/sms',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
  });
  const freshIndex = Math.floor(index / FRESH_KEY_EVERY);
  const fresh = index % FRESH_KEY_EVERY === 0 ? FRESH_API_KEYS[freshIndex] : undefined;
  if (fresh !== undefined) {
    return {
      ...options(fresh),
      agent: false,
      ...(freshIndex % 2 === 0 ? {} : { localAddress: OTHER_ADDRESS }),
    };
  }
  const isNew = index % NEW_CONNECTION_EVERY === 0;
  return { ...options(NEIGHBOUR.apiKey), agent: isNew ? false : agent };
}

async function askHealth(port: number, agent: Agent): Promise<HealthProbe> {
  const sentAt = Date.now();
  const startedAt = performance.now();
  const { status } = await exchange({ port, path: '/healthz', agent }, '');
  const replyMs = performance.now() - startedAt;
  return { sentAt, replyMs: status === 200 ? replyMs : Number.POSITIVE_INFINITY };
}

/** Resolves with status 0 when there is no reply. */
function exchange(options: RequestOptions, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const none = (): void => resolve({ status: 0, text: '' });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const outgoing = request({ host: '127.0.0.1', ...options, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', none);
    });
    outgoing.on('error', none);
    outgoing.end(body);
  });
}

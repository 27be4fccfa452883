import { setTimeout as sleep } from 'node:timers/promises';
import { NEIGHBOUR } from './seed.ts';

const INTERVAL_MS = 100;
const PERCENTILE = 0.99;

/** One send of the neighbour; instants are milliseconds since 1970. */
export interface Probe {
  readonly sentAt: number;
  readonly replyMs: number;
  readonly status: number;
  readonly smsId: string | null;
}

/** Sends a code of the neighbour by the clock until `attack` has ended and `afterMs` more are over. */
export async function probe(options: {
  readonly port: number;
  readonly webhookUrl: string;
  readonly attack: Promise<unknown>;
  readonly afterMs: number;
}): Promise<readonly Probe[]> {
  let until = Number.POSITIVE_INFINITY;
  const attacked = options.attack.then(() => {
    until = Date.now() + options.afterMs;
  });
  const sends: Promise<Probe>[] = [];
  while (Date.now() < until) {
    sends.push(send(options.port, options.webhookUrl));
    await sleep(INTERVAL_MS);
  }
  await attacked;
  return Promise.all(sends);
}

async function send(port: number, webhookUrl: string): Promise<Probe> {
  const sentAt = Date.now();
  const digits = String(Math.floor(Math.random() * 1e9)).padStart(9, '0');
  try {
    const response = await fetch(`http://127.0.0.1:${port}/sms`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${NEIGHBOUR.apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        phoneNumber: `9647${digits}`,
        smsType: 'verification',
        verificationCode: '123456',
        provider: 'sms',
        deliveryReport: { webhookUrl },
      }),
    });
    const { smsId = null } = (await response.json()) as { smsId?: string };
    return { sentAt, replyMs: Date.now() - sentAt, status: response.status, smsId };
  } catch {
    return { sentAt, replyMs: Date.now() - sentAt, status: 0, smsId: null };
  }
}

/** How long after its send a message got so far, in milliseconds: the 99th percentile, infinite for those that did not. */
export function p99WaitMs(probes: readonly Probe[], at: Readonly<Record<string, number>>): number {
  return p99(probes.map(({ smsId, sentAt }) => (at[smsId ?? ''] ?? Number.POSITIVE_INFINITY) - sentAt));
}

/** The 99th percentile. */
export function p99(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * PERCENTILE) - 1] ?? Number.NaN;
}

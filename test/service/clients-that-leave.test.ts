import { expect, it } from 'vitest';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness.ts';
import { RawConnection } from '../adapters/http/raw-connection.ts';
import { CAMPAIGNS, startWithCampaigns, UNKNOWN_ID } from '../support/campaigns.ts';

const RECIPIENTS = `${CAMPAIGNS}/${UNKNOWN_ID}/recipients`;
/** More requests of one project than any gate lets through at a time. */
const MANY = 12;
const REPLY_MS_MAX = 10_000;

/** Begins a POST whose body has two bytes, and sends so many of them. */
async function begun(service: Harness, path: string, body: string, expectContinue: boolean) {
  const connection = await RawConnection.open(Number(new URL(await service.url).port));
  const headers = [
    `Authorization: Bearer ${DEMO_API_KEY}`,
    'Content-Type: application/json',
    'Content-Length: 2',
    ...(expectContinue ? ['Expect: 100-continue'] : []),
  ];
  connection.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  return connection;
}

/** A request whose body the service is reading. */
async function beingRead(service: Harness, path: string) {
  const connection = await begun(service, path, '', true);
  await connection.until(/100 Continue/);
  return connection;
}

async function ask(service: Harness, path: string, init: RequestInit = {}): Promise<number> {
  const headers = { Authorization: `Bearer ${DEMO_API_KEY}`, 'Content-Type': 'application/json' };
  const signal = AbortSignal.timeout(REPLY_MS_MAX);
  return (await fetch(`${await service.url}${path}`, { ...init, headers, signal })).status;
}

it('a caller who leaves while a large body waits to be read makes its place free', async () => {
  const service = await startWithCampaigns();
  const reading = await Promise.all([beingRead(service, RECIPIENTS), beingRead(service, RECIPIENTS)]);
  const waiting = await Promise.all([1, 2, 3].map(() => begun(service, RECIPIENTS, '{}', false)));
  // A reply to a later request: the service has seen those before it.
  expect(await ask(service, '/sender-ids')).toBe(200);
  for (const connection of waiting) connection.destroy();
  expect(await ask(service, '/sender-ids')).toBe(200);
  for (const connection of reading) {
    connection.write('{}');
    await connection.until(/HTTP\/1\.1 4\d\d/);
    connection.destroy();
  }
  expect(await ask(service, RECIPIENTS, { method: 'POST', body: '{}' })).toBe(400);
});

it('callers who send their bodies slowly keep nobody from the campaigns', async () => {
  const service = await startWithCampaigns();
  const slow = await Promise.all([
    ...Array.from({ length: MANY }, () => beingRead(service, CAMPAIGNS)),
    beingRead(service, RECIPIENTS),
    beingRead(service, RECIPIENTS),
  ]);
  expect(await ask(service, CAMPAIGNS)).toBe(200);
  for (const connection of slow) connection.destroy();
});

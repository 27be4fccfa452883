import { afterEach, expect, it, vi } from 'vitest';
import {
  RECIPIENT_BODIES_MAX,
  RECIPIENT_BODIES_PER_PROJECT_MAX,
  SLOW_BODY_MS,
} from '../../src/adapters/http/limits.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { RawConnection } from '../adapters/http/raw-connection.ts';
import { CAMPAIGNS, startWithCampaigns, UNKNOWN_ID } from '../support/campaigns.ts';
import { holdTimers, runTimers } from '../support/held-timers.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';

const RECIPIENTS = `${CAMPAIGNS}/${UNKNOWN_ID}/recipients`;
/** More requests of one project than any gate lets through at a time. */
const MANY = 12;
const REPLY_MS_MAX = 10_000;

/** Begins a POST whose body has two bytes, and sends so many of them. */
async function begun(
  service: Harness,
  path: string,
  body: string,
  { expectContinue, apiKey = DEMO_API_KEY }: { readonly expectContinue: boolean; readonly apiKey?: string },
) {
  const connection = await RawConnection.open(Number(new URL(await service.url).port));
  const headers = [
    `Authorization: Bearer ${apiKey}`,
    'Content-Type: application/json',
    'Content-Length: 2',
    ...(expectContinue ? ['Expect: 100-continue'] : []),
  ];
  connection.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  return connection;
}

/** A request whose body the service is reading. */
async function beingRead(service: Harness, path: string, apiKey?: string) {
  const connection = await begun(service, path, '', { expectContinue: true, ...(apiKey && { apiKey }) });
  await connection.until(/100 Continue/);
  return connection;
}

async function ask(service: Harness, path: string, init: RequestInit = {}): Promise<number> {
  const headers = { Authorization: `Bearer ${DEMO_API_KEY}`, 'Content-Type': 'application/json' };
  const signal = AbortSignal.timeout(REPLY_MS_MAX);
  return (await fetch(`${await service.url}${path}`, { ...init, headers, signal })).status;
}

afterEach(runTimers);

it('a caller who leaves while a large body waits to be read makes its place free', async () => {
  const service = await startWithCampaigns();
  const reading = await Promise.all([beingRead(service, RECIPIENTS), beingRead(service, RECIPIENTS)]);
  const waiting = await Promise.all(
    [1, 2, 3].map(() => begun(service, RECIPIENTS, '{}', { expectContinue: false })),
  );
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

it('slow bodies of sixteen projects are read while nobody waits, and one of them gets 503 when another project waits', async () => {
  const count = RECIPIENT_BODIES_MAX / RECIPIENT_BODIES_PER_PROJECT_MAX;
  const keys = Array.from(
    { length: count },
    (_, index) =>
      `sk_dev_${String(100 + index)
        .repeat(14)
        .slice(2)}`,
  );
  const seed = seedWith({});
  const others = seed.projects.flatMap((project) =>
    keys.map((key, index) => ({ ...project, slug: `other-${index}`, apiKeys: [key] })),
  );
  const service = await startService({ seed: { ...seed, projects: [...seed.projects, ...others] } });
  holdTimers();
  const slow = await Promise.all(
    keys.flatMap((key) =>
      Array.from({ length: RECIPIENT_BODIES_PER_PROJECT_MAX }, () => beingRead(service, RECIPIENTS, key)),
    ),
  );
  const replies: string[] = [];
  const unanswered = new Set(slow);
  const all = slow.map(async (connection) => {
    replies.push(await connection.until(/HTTP\/1\.1 [45]\d\d /));
    unanswered.delete(connection);
  });
  await vi.advanceTimersByTimeAsync(SLOW_BODY_MS);
  expect(await ask(service, '/sender-ids')).toBe(200);
  expect(replies).toEqual([]);
  const waiting = await begun(service, RECIPIENTS, '{}', { expectContinue: false });
  expect(await ask(service, '/sender-ids')).toBe(200);
  await vi.advanceTimersByTimeAsync(SLOW_BODY_MS);
  await waiting.until(/HTTP\/1\.1 400/);
  // Which one it is depends on which arrived first. What is written behind its reply would reset the connection.
  await Promise.race(all);
  for (const connection of unanswered) connection.write('{}');
  runTimers();
  await Promise.all(all);
  expect(replies.filter((reply) => reply.includes(' 503 '))).toHaveLength(1);
  for (const connection of [...slow, waiting]) connection.destroy();
});

import { createServer, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import {
  PROVIDER_CONNECTIONS_MAX,
  PROVIDER_REQUESTS_MAX,
} from '../../src/adapters/egress/providers/undici-provider-http.ts';
import { PLACES_PER_KEPT } from '../../src/domain/providers/submission-share.ts';
import { WAITING_MIN } from '../../src/domain/providers/waiting-limits.ts';
import { HOUR_MS } from '../support/builders.ts';
import { portOf } from '../support/port-of.ts';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith } from '../support/seeds.ts';
import { until } from '../support/until.ts';

/** As many requests of one project are in flight. */
const IN_FLIGHT = PROVIDER_REQUESTS_MAX - Math.ceil(PROVIDER_REQUESTS_MAX / PLACES_PER_KEPT);
/** As many attempts begin in one batch: as many as there are places, and those that wait for one. */
const BEGUN_MAX = PROVIDER_REQUESTS_MAX + WAITING_MIN;
const SENDS = 2 * PROVIDER_CONNECTIONS_MAX;
/** Later than every receipt window. */
const PAST_RECEIPT_WINDOWS_MS = 73 * HOUR_MS;

/** A gateway that keeps the numbers it was given, and holds its responses until it is released. */
async function startGateway() {
  const numbers: string[] = [];
  const held: ServerResponse[] = [];
  let isHolding = false;
  const respond = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"id":"${numbers.length}"}`);
  const server = createServer((request, response) => {
    numbers.push(new URL(request.url ?? '/', 'http://gateway').searchParams.get('to') ?? '');
    if (isHolding) held.push(response);
    else respond(response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    numbers,
    settings: {
      kind: 'http-gateway',
      request: { method: 'GET', url: `http://127.0.0.1:${portOf(server)}/?to={to}&text={text}` },
      success: { id: '/id' },
    },
    hold: () => {
      isHolding = true;
    },
    release: () => {
      isHolding = false;
      for (const response of held.splice(0)) respond(response);
    },
  };
}

/** A service whose texts go to one gateway, and to another one when that has no capacity. Many wait for the first. */
async function start() {
  const [first, second] = await Promise.all([startGateway(), startGateway()]);
  const service = await startService({
    seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY], rateLimit: null, credit: 100_000 }),
    channels: {
      sms: {
        providers: { first: first.settings, second: second.settings },
        routes: [{ providers: ['first', 'second'] }],
      },
    },
  });
  first.hold();
  const smsIds = await Promise.all(
    Array.from({ length: SENDS }, async (_, index) => {
      const phoneNumber = String(9_647_701_000_000 + index);
      const body = { phoneNumber, smsType: 'custom', customMessage: 'Hello', provider: 'sms' };
      return ((await service.request('/sms', { body })).body as { smsId: string }).smsId;
    }),
  );
  await until(() => first.numbers.length >= IN_FLIGHT);
  const begun = async () => {
    const messages = await Promise.all(smsIds.map((smsId) => service.message(smsId)));
    return messages.filter((message) => (message?.attempts.length ?? 0) > 0).length;
  };
  return { first, second, service, begun };
}

it('few attempts begin that their gateway does not take, and the others begin as it takes more', async () => {
  const { first, second, service, begun } = await start();
  // Two batches may begin at a time. On a slow machine requests are fresh no longer, and others are in flight besides them.
  expect(await begun()).toBeLessThanOrEqual(PROVIDER_CONNECTIONS_MAX + 2 * BEGUN_MAX);
  first.release();
  await until(() => first.numbers.length === SENDS);
  expect([new Set(first.numbers).size, second.numbers, await begun()]).toEqual([SENDS, [], SENDS]);
  await service.advance(PAST_RECEIPT_WINDOWS_MS);
  await service.assertQuiet();
});

import { createServer, type ServerResponse } from 'node:http';
import { ContainerModule } from 'inversify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ports } from '../../src/bootstrap/tokens.ts';
import { ownIdGateway, RECEIPTS_TOKEN, receiptPath } from '../support/own-id-gateway.ts';
import { portOf } from '../support/port-of.ts';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith } from '../support/seeds.ts';
import { until } from '../support/until.ts';

const CREDIT = 1_000;
const ATTEMPT_SECONDS = 6;

/** A service and its only gateway, which never responds and whose ids are ours. */
async function start() {
  vi.stubEnv('HANGING_GATEWAY_TOKEN', RECEIPTS_TOKEN);
  const references: string[] = [];
  const pending: ServerResponse[] = [];
  const gateway = createServer((request, response) => {
    references.push(new URL(request.url ?? '/', 'http://gateway').searchParams.get('ref') ?? '');
    pending.push(response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => gateway.once('listening', resolve));
  onTestFinished(() => {
    gateway.close();
    gateway.closeAllConnections();
    vi.unstubAllEnvs();
  });
  const timeouts = new Set<() => void>();
  const module = new ContainerModule(({ rebind }) => {
    rebind(ports.submitTimeout).toConstantValue((expired) => {
      timeouts.add(expired);
      return () => timeouts.delete(expired);
    });
  });
  const service = await startService({
    overrides: [module],
    seed: seedWith({
      environment: 'live',
      apiKeys: [LIVE_KEY],
      rateLimit: null,
      credit: CREDIT,
      attemptTimeoutSeconds: { verification: ATTEMPT_SECONDS, other: ATTEMPT_SECONDS },
    }),
    channels: ownIdGateway(portOf(gateway), 'HANGING_GATEWAY_TOKEN'),
  });
  const body = {
    phoneNumber: '9647701234567',
    smsType: 'custom',
    customMessage: 'Hello',
    provider: 'sms',
  };
  const sent = (await service.request('/sms', { body })).body as { smsId: string; cost: number };
  await until(() => references.length === 1);
  return {
    service,
    sent,
    pending,
    /** The submission counts as one without a result. */
    expire: () => {
      for (const expired of timeouts) expired();
    },
    receipt: async (status = 'DELIVRD'): Promise<number> =>
      (await fetch((await service.url) + receiptPath(references[0] ?? '', status))).status,
    statusNow: async () =>
      ((await service.request(`/sms/track/${sent.smsId}`)).body as { status: string }).status,
    credit: async () => ((await service.request('/info')).body as { credit: number }).credit,
  };
}

it('a receipt under our own id counts at once, also while the response of its gateway hangs', async () => {
  const { service, sent, pending, receipt, statusNow, credit } = await start();
  expect(await receipt()).toBe(200);
  expect(await statusNow()).toBe('delivered');
  pending[0]?.destroy();
  await service.advance(ATTEMPT_SECONDS * 1_000);
  expect([await statusNow(), await credit()]).toEqual(['delivered', CREDIT - sent.cost]);
  await service.assertQuiet();
});

it('a message is delivered and charged once, though its gateway responds after the time of the attempt', async () => {
  const { service, sent, pending, expire, receipt, statusNow, credit } = await start();
  expect(await receipt()).toBe(200);
  expire();
  await service.advance(ATTEMPT_SECONDS * 1_000);
  expect([await statusNow(), await credit()]).toEqual(['delivered', CREDIT - sent.cost]);
  pending[0]?.writeHead(200).end('{}');
  await until(async () => (await service.message(sent.smsId))?.attempts[0]?.providerMessageIds.length);
  expect(await service.message(sent.smsId)).toMatchObject({
    status: 'delivered',
    attempts: [{ state: 'delivered', provider: 'gateway' }],
  });
  expect(await credit()).toBe(CREDIT - sent.cost);
  await service.assertQuiet();
});

it.each([
  ['before', ['UNDELIV', 'ENROUTE']],
  ['behind', ['ENROUTE', 'UNDELIV']],
])(
  'a failure that comes %s the word that the gateway took the message fails it, and nothing is charged',
  async (_, statuses) => {
    const { service, receipt, expire, statusNow, credit } = await start();
    expire();
    for (const status of statuses) expect(await receipt(status)).toBe(200);
    await until(async () => (await statusNow()) === 'failed');
    expect(await credit()).toBe(CREDIT);
    await service.assertQuiet();
  },
);

import { ContainerModule } from 'inversify';
import { expect, it } from 'vitest';
import { MemoryJobQueue } from '../../src/adapters/memory/job-queue.ts';
import type { Logger } from '../../src/application/ports/logger.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import { ports } from '../../src/bootstrap/tokens.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const HEAVY_KEY = 'sk_dev_fedcba9876543210fedcba9876543210fedcba98';
const ADMIN_TOKEN = 'an-operator-token-of-32-characters';
const SENDS = 60;
/** Of one lease: far fewer than there are jobs. */
const QUEUE_JOBS_MAX = 20;
const TIMEOUT_MS = 30_000;

/** Two projects, `demo` and `heavy`, and a queue that takes a small part of their jobs at a time. */
async function start() {
  const seed = seedWith({ rateLimit: null, inboundWebhooks: [] });
  const [demo] = seed.projects;
  if (demo === undefined) throw new Error('The seed has a project');
  const heavy = { ...demo, slug: 'heavy', apiKeys: [HEAVY_KEY], whatsapp: { businesses: [] } };
  const smallQueue = new ContainerModule(({ rebind }) => {
    rebind(ports.jobQueue).toResolvedValue(
      (logger: Logger) => new MemoryJobQueue({ logger, capacity: QUEUE_JOBS_MAX }),
      [ports.logger],
    );
  });
  return startService({
    seed: { ...seed, projects: [demo, heavy] },
    adminToken: ADMIN_TOKEN,
    overrides: [smallQueue],
  });
}

it('a project of weight 3 gets three times as many jobs done as one of weight 1 while both have backlogs', async () => {
  const service = await start();
  const changed = await service.request('/admin/projects/heavy', {
    method: 'PATCH',
    apiKey: ADMIN_TOKEN,
    body: { weight: 3 },
  });
  expect(changed).toMatchObject({ status: 200, body: { weight: 3 } });
  for (const weight of [0, 101, 1.5]) {
    const request = { method: 'PATCH', apiKey: ADMIN_TOKEN, body: { weight } };
    expect(await service.request('/admin/projects/heavy', request)).toMatchObject({ status: 400 });
  }
  // Every message waits for a receipt of telegram that never comes: all of them fall back at one instant.
  service.script(({ channel }) => (channel === 'sms' ? null : { result: 'accepted', receipts: [] }));
  for (const [apiKey, prefix] of [
    [DEMO_API_KEY, '964770100'],
    [HEAVY_KEY, '964770300'],
  ] as const) {
    for (let index = 0; index < SENDS; index += 1) {
      const body = verification(`${prefix}${1_000 + index}`, { provider: 'telegram-sms' });
      expect(await service.request('/sms', { apiKey, body })).toMatchObject({ status: 200 });
    }
  }
  await service.advance(TIMEOUT_MS);
  const texts = service.inbox.all().filter(({ channel }) => channel === 'sms');
  expect(texts).toHaveLength(2 * SENDS);
  const ofHeavy = (count: number) =>
    texts.slice(0, count).filter(({ phoneNumber }) => phoneNumber.startsWith('964770300')).length;
  expect([ofHeavy(20), ofHeavy(40), ofHeavy(60)]).toEqual([15, 30, 45]);
  await service.advance(TIMEOUT_MS);
  await service.assertQuiet();
});

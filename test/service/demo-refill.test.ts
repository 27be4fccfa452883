import { expect, it } from 'vitest';
import { DEMO_API_KEY, DEMO_SEED } from '../../src/bootstrap/config/demo-seed.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { startService } from '../support/running-service.ts';

it('the demo project is filled up once when it has little credit left, with a record of the system', async () => {
  const service = await startService({ adminToken: ADMIN_TOKEN, seed: DEMO_SEED });
  const { refillDemo, auditLedger } = service.service.roots;
  expect(await refillDemo.execute(DEMO_API_KEY)).toBe(false);
  const correction = { amount: -14_000.5, reason: 'A test' };
  await service.request('/admin/projects/demo/corrections', { apiKey: ADMIN_TOKEN, body: correction });
  await service.advance(1);
  const [first, second] = await Promise.all([
    refillDemo.execute(DEMO_API_KEY),
    refillDemo.execute(DEMO_API_KEY),
  ]);
  expect([first, second].sort()).toEqual([false, true]);
  const { body } = await service.request('/admin/projects/demo', { apiKey: ADMIN_TOKEN });
  expect(body).toMatchObject({ credit: 15_000 });
  const audit = await service.request('/admin/audit', { apiKey: ADMIN_TOKEN });
  expect((audit.body as { records: unknown[] }).records[0]).toMatchObject({
    actor: 'system',
    action: 'credit-added',
    before: { balance: 999.5 },
    after: { balance: 15_000, amount: 14_000.5, reason: 'the demo project had little credit left' },
  });
  expect((await auditLedger.execute()).differences).toEqual([]);
});

it('a key that belongs to no project gets no credit', async () => {
  const service = await startService({ adminToken: ADMIN_TOKEN, seed: DEMO_SEED });
  expect(await service.service.roots.refillDemo.execute(DEMO_API_KEY.replace('0123', '3210'))).toBe(false);
});

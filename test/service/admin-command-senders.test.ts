import { expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN, runAdmin } from '../support/admin.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const PRICES = ['--korek-telecom', '81', '--asia-cell', '82.5', '--zain-iraq', '83', '--others', '0'];

const run = (service: Harness, ...given: readonly string[]) => runAdmin(service, ['senders', ...given]);

const start = () =>
  startService({ adminToken: ADMIN_TOKEN, seed: seedWith({ rateLimit: null, senderIds: [] }) });

it('barid admin senders leads from a pending sender ID to a send at its own price, and to its rejection', async () => {
  const service = await start();
  const send = async () => {
    const body = verification(NUMBER, { provider: 'sms', senderId: 'Souq' });
    const { status, body: reply } = await service.request('/sms', { body });
    return { status, reply };
  };
  const requested = await run(service, 'request', 'demo', 'Souq', ...PRICES);
  expect([requested.code, requested.errors]).toEqual([0, []]);
  expect(requested.text).toMatch(/^status +pending$/m);
  expect(requested.text).toMatch(/^pricePerSms\.asiaCell +82\.5$/m);
  expect(await send()).toMatchObject({ status: 400 });
  const waiting = await run(service, 'list', '--status', 'pending');
  expect(waiting.printed[0]).toMatch(/^id +project +senderId +status +reason +pricePerSms$/);
  expect(waiting.printed[1]).toMatch(/ Souq +pending +- +korekTelecom=81 asiaCell=82\.5 /);
  expect((await run(service, 'approve', 'demo', 'Souq')).text).toMatch(/^status +accepted$/m);
  expect((await run(service, 'list', '--status', 'pending')).printed).toHaveLength(1);
  expect(await send()).toMatchObject({ status: 200, reply: { cost: 82.5 } });
  const priced = await run(service, 'price', 'demo', 'Souq', '--asia-cell', '90');
  expect(priced.text).toMatch(/^pricePerSms\.korekTelecom +81$/m);
  expect(await send()).toMatchObject({ status: 200, reply: { cost: 90 } });
  const rejected = await run(service, 'reject', 'demo', 'Souq', '--reason', 'It belongs to a bank');
  expect(rejected.text).toMatch(/^reason +It belongs to a bank$/m);
  expect(await send()).toMatchObject({ status: 400 });
  expect((await run(service, 'list', 'demo')).printed[1]).toMatch(/ rejected +It belongs to a bank /);
});

it('barid admin senders ends with 2 when a price or a reason is missing, and with 1 without the sender ID', async () => {
  const service = await start();
  for (const given of [
    ['request', 'demo', 'Souq', ...PRICES.slice(2)],
    ['request', 'demo', 'Souq', ...PRICES.slice(0, -1), 'much'],
    ['reject', 'demo', 'Souq'],
    ['approve', 'demo'],
  ]) {
    const { code, printed } = await run(service, ...given);
    expect([code, printed]).toEqual([2, []]);
  }
  const unknown = await run(service, 'approve', 'demo', 'Nobody');
  expect([unknown.code, unknown.errors[0]]).toEqual([1, expect.stringContaining('(unknown-sender-id)')]);
});

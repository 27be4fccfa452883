import { expect, it } from 'vitest';
import { ADMIN_TOKEN, jsonOfAdmin, runAdmin } from '../support/admin.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const UNKNOWN_ID = '000000000000000000000000';

it('barid admin messages searches messages, and traces one', async () => {
  const service = await startService({ adminToken: ADMIN_TOKEN });
  const { body } = await service.request('/sms', { body: verification(NUMBER, { provider: 'sms' }) });
  const { smsId } = body as { smsId: string };
  await service.advance(1_000);
  const filter = ['--phone-number', NUMBER, '--status', 'delivered', '--limit', '5'];
  expect(await jsonOfAdmin(service, 'messages', 'search', ...filter)).toMatchObject({
    messages: [{ id: smsId }],
  });
  expect(await jsonOfAdmin(service, 'messages', 'search', '--status', 'failed')).toMatchObject({
    messages: [],
  });
  expect(await jsonOfAdmin(service, 'messages', 'trace', smsId)).toMatchObject({
    id: smsId,
    status: 'delivered',
  });
  expect((await runAdmin(service, ['messages', 'trace', `sms-${UNKNOWN_ID}`])).code).toBe(1);
});

it('barid admin messages traces a message with a table of its attempts and one of its money', async () => {
  const service = await startService({ adminToken: ADMIN_TOKEN });
  const { body } = await service.request('/sms', { body: verification(NUMBER, { provider: 'sms' }) });
  const { smsId } = body as { smsId: string };
  await service.advance(1_000);
  const { text } = await runAdmin(service, ['messages', 'trace', smsId]);
  expect(text).toMatch(/^status +delivered$/m);
  expect(text).toMatch(/^\nattempts:\nchannel +provider +state .*\nsms +simulator +delivered /m);
  expect(text).toMatch(/^\nentries:\nid +at +kind +held +captured +released\n.* hold +80 +0 +0$/m);
});

const title = 'barid admin webhooks lists events, and sends them again';
it.skipIf(!hasOpenssl)(hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`, async () => {
  const receiver = await HttpsReceiver.open(respondWith(410));
  const service = await startService({ adminToken: ADMIN_TOKEN, egress: receiver.egress });
  const deliveryReport = { webhookUrl: receiver.url(), deliveryReportType: 'final' };
  await service.request('/sms', { body: verification(NUMBER, { provider: 'sms', deliveryReport }) });
  await service.advance(1_000);
  const endpoint = `localhost:${receiver.port}/hook`;
  const { events } = await jsonOfAdmin<{ events: { id: string }[] }>(
    service,
    'webhooks',
    'events',
    '--state',
    'discarded',
    '--endpoint',
    endpoint,
  );
  const id = events[0]?.id ?? '';
  const [message] = service.inbox.all();
  const { text } = await runAdmin(service, ['messages', 'trace', message?.smsId ?? '']);
  expect(text).toMatch(new RegExp(`^\\neventAttempts:\\nevent +number +.*\\n${id} +1 `, 'm'));
  await jsonOfAdmin(service, 'webhooks', 'resend', id);
  expect(await jsonOfAdmin(service, 'webhooks', 'show', id)).toMatchObject({
    attemptLog: [{ number: 2 }, { number: 1 }],
  });
  expect(await jsonOfAdmin(service, 'webhooks', 'resend-failed', 'demo', endpoint)).toEqual({
    resent: 1,
    superseded: 0,
    withoutWebhook: 0,
    next: null,
  });
  expect(receiver.requests).toHaveLength(3);
  expect(await jsonOfAdmin(service, 'webhooks', 'circuits', '--project', 'demo')).toEqual({
    circuits: [],
    next: null,
  });
  expect((await runAdmin(service, ['webhooks', 'close-circuit', 'demo', endpoint])).code).toBe(1);
});

import { expect, it, test } from 'vitest';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';
import { accepted, errorOf, NUMBER, SECOND, startWith, track } from './world.ts';

it('4.2 a tracked message has the fields of 2.1 and no other', async () => {
  const service = await startWith();
  const smsId = await accepted(service, verification(NUMBER, { provider: 'whatsapp-sms' }));
  await service.advance(SECOND);
  expect(await track(service, smsId)).toEqual({
    smsId,
    phoneNumber: NUMBER,
    status: 'delivered',
    cost: 80,
    isFinalStatus: true,
    lastChannel: 'whatsapp',
    channelFlow: [
      { channel: 'whatsapp', tried: true, success: true },
      { channel: 'sms', tried: false },
    ],
  });
});

test.each(['sms-000000000000000000000000', 'sms-1', 'SMS-000000000000000000000000', '%ff'])(
  '4.2 the unknown or malformed id %s gets the not-found body',
  async (smsId) => {
    const service = await startWith();
    expect(errorOf(await service.request(`/sms/track/${smsId}`))).toEqual({
      status: 404,
      code: 'message-not-found',
      body: { message: 'SMS not found' },
    });
  },
);

it("4.2 another project's message gets the not-found body", async () => {
  const otherKey = `sk_dev_${'f'.repeat(40)}`;
  const seed = seedWith({});
  const [demo] = seed.projects;
  if (demo === undefined) throw new Error('The demo has a project');
  const other = { ...demo, name: 'Other', slug: 'other', apiKeys: [otherKey], whatsapp: { businesses: [] } };
  const service = await startService({ seed: { ...seed, projects: [demo, other] } });
  const smsId = await accepted(service);
  expect(errorOf(await service.request(`/sms/track/${smsId}`, { apiKey: otherKey }))).toMatchObject({
    status: 404,
    body: { message: 'SMS not found' },
  });
});

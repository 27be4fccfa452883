import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { HttpWorld } from '../http-world.ts';

const SEND = { phoneNumber: '9647701234567', smsType: 'custom', customMessage: 'Hello' };
const HOOK = { webhookUrl: 'https://example.com' };

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
});
afterEach(() => world.close());

test.each<[fields: object, named: string]>([
  [{ foo: 1 }, 'foo'],
  [{ foo: 1, deliveryreport: HOOK }, 'foo, deliveryreport'],
  [
    { deliveryReport: { ...HOOK, webhookURL: 'x', secret: [1] } },
    'deliveryReport.webhookURL, deliveryReport.secret',
  ],
  [{ verificationCode: '123456' }, 'verificationCode'],
  [{ 'a b\r\nX-Evil: 1': 1 }, 'a_b__X-Evil__1'],
  [{ نص: 1 }, '__'],
  [{ ['x'.repeat(1_000)]: 1 }, 'x'.repeat(64)],
  [
    Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, 1])),
    'f0, f1, f2, f3, f4, f5, f6, f7, f8, f9',
  ],
])('names the unknown fields of an accepted request in a header: %j', async (fields, named) => {
  const reply = await world.post('/sms', { ...SEND, ...fields });
  expect(reply.status).toBe(200);
  expect(reply.headers['x-unknown-fields']).toBe(named);
});

it('names a field called __proto__, and takes nothing from it', async () => {
  const body = `${JSON.stringify(SEND).slice(0, -1)},"__proto__":{"senderId":"Evil"}}`;
  const reply = await world.postRaw('/sms', body);
  expect(reply.headers['x-unknown-fields']).toBe('__proto__');
  expect(world.api.sent[0]?.request.senderId).toBeNull();
});

it('sends no X-Unknown-Fields when every field is known or null', async () => {
  const templateParameters = { body: { 1: 'Sara' }, buttons: { 0: { 1: 'x' } } };
  const template = { templateName: 't', whatsappAccountId: 'a', whatsappPhoneId: 'p', templateParameters };
  for (const fields of [{}, { deliveryReport: HOOK, foo: null }]) {
    const reply = await world.post('/sms', { ...SEND, ...fields });
    expect(reply.headers).not.toHaveProperty('x-unknown-fields');
  }
  const reply = await world.post('/sms', {
    phoneNumber: SEND.phoneNumber,
    smsType: 'whatsapp-template',
    ...template,
  });
  expect(reply.status).toBe(200);
  expect(reply.headers).not.toHaveProperty('x-unknown-fields');
});

test.each(['handling=strict', 'Handling = "strict"', 'return=minimal, handling=strict; foo'])(
  'rejects unknown fields of a request with Prefer: %s',
  async (prefer) => {
    const reply = await world.post('/sms', { ...SEND, foo: 1, bar: 2 }, { prefer });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ error: 'Unknown fields: foo, bar' });
    expect(reply.headers['x-error-code']).toBe('unknown-fields');
    expect(world.api.sent).toEqual([]);
    expect((await world.post('/sms', SEND, { prefer })).status).toBe(200);
  },
);

test.each(['handling=lenient', 'handling=stricter', 'wait=10', ''])(
  'ignores unknown fields of a request with Prefer: %s',
  async (prefer) => {
    expect((await world.post('/sms', { ...SEND, foo: 1 }, { prefer })).status).toBe(200);
  },
);

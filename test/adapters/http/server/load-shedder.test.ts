import { afterEach, expect, it } from 'vitest';
import { HttpWorld } from '../http-world.ts';

const REQUESTS_MAX = 2;

const SOUND = { phoneNumber: '9647701234567', smsType: 'verification', verificationCode: '123456' };

let world: HttpWorld;

afterEach(() => world.close());

it.each([
  ['have failed', new Error('the use case is broken'), 500],
  ['were rejected', null, 400],
])('the process has capacity again when as many requests as it takes %s', async (_, fault, status) => {
  world = await new HttpWorld({ limits: { requestsMax: REQUESTS_MAX } }).open();
  world.api.fault = fault;
  for (let request = 0; request < REQUESTS_MAX; request += 1) {
    expect((await world.post('/sms', fault === null ? {} : SOUND)).status).toBe(status);
  }
  world.api.fault = null;
  expect((await world.call('GET', '/info')).status).toBe(200);
});

import { afterEach, expect, it } from 'vitest';
import { DEV_KEY } from '../../../support/builders.ts';
import { HttpWorld } from '../http-world.ts';
import { RawConnection } from '../raw-connection.ts';

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

const BODY = JSON.stringify(SOUND);
const HEAD = `POST /sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEV_KEY}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`;

/** A send whose body the server waits for. */
async function slowSend(): Promise<RawConnection> {
  const connection = await RawConnection.open(world.port);
  connection.write(HEAD);
  expect(await connection.until(/HTTP\/1.1 [0-9]{3}/)).toContain('100 Continue');
  connection.write(BODY.slice(0, 1));
  return connection;
}

it('requests whose bodies are still on their way take no place of those that are served at a time', async () => {
  world = await new HttpWorld({ limits: { requestsMax: REQUESTS_MAX } }).open();
  const slow = await Promise.all(Array.from({ length: REQUESTS_MAX + 3 }, slowSend));
  expect((await world.post('/sms', SOUND)).status).toBe(200);
  for (const connection of slow) {
    connection.write(BODY.slice(1));
    expect(await connection.until(/HTTP\/1.1 (200|5)/)).toContain('200 OK');
    connection.destroy();
  }
  expect(world.api.sent).toHaveLength(REQUESTS_MAX + 4);
});

it('a request is rejected with 503 when the process is full by the time its body is complete', async () => {
  world = await new HttpWorld({ limits: { requestsMax: REQUESTS_MAX } }).open();
  let openGate = (): void => undefined;
  world.api.gate = new Promise((resolve) => {
    openGate = resolve;
  });
  const connection = await slowSend();
  const served = Array.from({ length: REQUESTS_MAX }, () => world.post('/sms', SOUND));
  while (world.api.sent.length < REQUESTS_MAX) await world.call('GET', '/healthz');
  connection.write(BODY.slice(1));
  expect(await connection.until(/HTTP\/1.1 (200|5).*}$/s)).toMatch(/503 .*X-Error-Code: overloaded/s);
  openGate();
  expect((await Promise.all(served)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await world.post('/sms', SOUND)).status).toBe(200);
  connection.destroy();
});

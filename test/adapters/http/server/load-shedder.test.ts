import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { DEMO_API_KEY } from '../../../../src/bootstrap/config/demo-seed.ts';
import { aProject } from '../../../support/builders.ts';
import { until } from '../../../support/until.ts';
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
const HEAD = `POST /sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEMO_API_KEY}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`;

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

it('a long reply that is not read counts for its address, until its connection stalls and is closed', async () => {
  world = await new HttpWorld({ limits: { requestsPerAddressMax: 3, stallTimeoutMs: 1_500 } }).open();
  const unread = [1, 2, 3].map(() => {
    return connect(world.port, '127.0.0.1')
      .on('error', () => undefined)
      .pause();
  });
  // Nobody reads: what the system does not buffer stays with the server, and it may buffer several replies.
  await until(async () => {
    for (const socket of unread) socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n');
    return (await world.call('GET', '/info')).status === 503;
  });
  await until(async () => (await world.call('GET', '/info')).status === 200);
  for (const socket of unread) socket.destroy();
});

it('a long reply behind an unfinished one releases its place when the client leaves', async () => {
  world = await new HttpWorld({ limits: { requestsPerAddressMax: 2 } }).open();
  let openGate = (): void => undefined;
  world.api.gate = new Promise((resolve) => {
    openGate = resolve;
  });
  const connection = await RawConnection.open(world.port);
  const send = `${HEAD.replace('Expect: 100-continue\r\n', '')}${BODY}`;
  connection.write(`${send}GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until(async () => (await world.call('GET', '/info')).status === 503);
  connection.destroy();
  // The unfinished one still counts.
  await until(async () => (await world.call('GET', '/info')).status === 200);
  openGate();
});

describe('the requests of one project or one address', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  let openGate: () => void;

  async function start(limits: { requestsPerProjectMax?: number; requestsPerAddressMax?: number }) {
    world = await new HttpWorld({ limits }).open();
    world.api.gate = new Promise((resolve) => {
      openGate = resolve;
    });
  }
  const send = () => world.post('/sms', SOUND);

  it('a project with as many requests as it may have gets 503, and other projects are served', async () => {
    await start({ requestsPerProjectMax: 2 });
    const served = [send(), send()];
    while (world.api.sent.length < 2) await world.call('GET', '/healthz');
    const rejected = await send();
    expect([rejected.status, rejected.headers['x-error-code'], rejected.headers['retry-after']]).toEqual([
      503,
      'overloaded',
      '1',
    ]);
    world.api.project = aProject({ id: '664abc0000000000000000ff', environment: 'dev' });
    expect((await world.call('GET', '/info')).status).toBe(200);
    openGate();
    expect((await Promise.all(served)).map(({ status }) => status)).toEqual([200, 200]);
    world.api.project = aProject({ environment: 'dev' });
    expect((await send()).status).toBe(200);
  });

  it('an address with as many requests as it may have gets 503 before its key is checked, and others are served', async () => {
    await start({ requestsPerAddressMax: 2 });
    const served = [send(), send()];
    while (world.api.sent.length < 2) await world.call('GET', '/healthz', { from: '127.0.0.2' });
    const rejected = await world.call('GET', '/info', { keyless: true });
    expect([rejected.status, rejected.headers['x-error-code'], rejected.headers['retry-after']]).toEqual([
      503,
      'overloaded',
      '1',
    ]);
    expect((await world.call('GET', '/healthz')).status).toBe(200);
    expect((await world.call('GET', '/info', { from: '127.0.0.2' })).status).toBe(200);
    openGate();
    expect((await Promise.all(served)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await world.call('GET', '/info')).status).toBe(200);
  });

  it('a project holds its places while its bodies are on their way, and gives them back when the caller leaves', async () => {
    await start({ requestsPerProjectMax: 2 });
    openGate();
    const slow = [await slowSend(), await slowSend()];
    const send503 = await world.call('POST', '/sms', { headers: JSON_TYPE, body: BODY });
    expect(send503.status).toBe(503);
    for (const connection of slow) connection.destroy();
    let reply = await send();
    while (reply.status === 503) reply = await send();
    expect(reply.status).toBe(200);
  });
});

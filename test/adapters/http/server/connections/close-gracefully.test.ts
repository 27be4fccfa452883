import { expect, it } from 'vitest';
import { DEMO_API_KEY } from '../../../../../src/bootstrap/config/demo-seed.ts';
import { HttpWorld } from '../../http-world.ts';
import { RawConnection } from '../../raw-connection.ts';

const BODY = '{"phoneNumber":"9647701234567","smsType":"verification","verificationCode":"123456"}';
const SEND = `POST /sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEMO_API_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const GET = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const LONG_MS = 60_000;
const AT_ONCE = { timeoutMs: LONG_MS, lingerMs: 0 };

/** A server with a send in flight that gets its reply when `openGate` is called. */
async function worldWithSendInFlight() {
  const world = await new HttpWorld().open();
  let openGate = (): void => undefined;
  world.api.gate = new Promise((resolve) => {
    openGate = resolve;
  });
  const connection = await RawConnection.open(world.port);
  connection.write(SEND);
  while (world.api.sent.length === 0) await world.call('GET', '/healthz');
  return { world, connection, openGate };
}

it('replies to a request in flight with Connection: close, and ends by itself', async () => {
  const { world, connection, openGate } = await worldWithSendInFlight();
  const closed = world.http.closeGracefully(AT_ONCE);
  openGate();
  expect(await closed).toBe(true);
  const received = await connection.untilClosed();
  expect(received).toMatch(/^HTTP\/1.1 200 /);
  expect(received).toMatch(/connection: close/i);
  expect(received).toContain('"smsId"');
});

it('takes no new connection while it closes', async () => {
  const { world, openGate } = await worldWithSendInFlight();
  const { port } = world;
  const closed = world.http.closeGracefully(AT_ONCE);
  await expect(RawConnection.open(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  openGate();
  await closed;
});

it('closes connections that are idle or never asked for anything', async () => {
  const world = await new HttpWorld().open();
  const idle = await RawConnection.open(world.port);
  idle.write(GET);
  await idle.until(/"status":"ok"/);
  const silent = await RawConnection.open(world.port);
  expect(await world.http.closeGracefully(AT_ONCE)).toBe(true);
  await Promise.all([idle.untilClosed(), silent.untilClosed()]);
});

it('replies to a request that was on its way over an idle connection', async () => {
  const world = await new HttpWorld().open();
  const idle = await RawConnection.open(world.port);
  idle.write(GET);
  await idle.until(/"status":"ok"/);
  const fresh = await RawConnection.open(world.port);
  // Any other exchange: the server has accepted what came before it.
  await world.call('GET', '/healthz');
  const closed = world.http.closeGracefully({ timeoutMs: LONG_MS, lingerMs: LONG_MS });
  idle.write(GET);
  fresh.write(GET);
  expect(await idle.untilClosed()).toMatch(/connection: close\r\n[\s\S]*"status":"ok"/i);
  expect(await fresh.untilClosed()).toMatch(/connection: close\r\n[\s\S]*"status":"ok"/i);
  world.http.server.closeAllConnections();
  await closed;
});

it('cuts the connections that are left when the time is over', async () => {
  const { world, connection, openGate } = await worldWithSendInFlight();
  expect(await world.http.closeGracefully({ timeoutMs: 1, lingerMs: 0 })).toBe(false);
  expect(await connection.untilClosed()).toBe('');
  openGate();
});

it('closes twice, and a server that never listened, without a fault', async () => {
  const world = new HttpWorld();
  expect(await world.http.closeGracefully(AT_ONCE)).toBe(true);
  expect(await world.http.closeGracefully(AT_ONCE)).toBe(true);
});

import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEV_KEY } from '../../../../support/builders.ts';
import { HttpWorld } from '../../http-world.ts';
import { RawConnection } from '../../raw-connection.ts';

const CONNECTIONS_MAX = 3;
const BODY = '{"phoneNumber":"9647701234567","smsType":"verification","verificationCode":"123456"}';
const SEND = `POST /sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEV_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const LIVENESS = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const ALIVE = '"status":"ok"';

let world: HttpWorld;
let openGate: () => void;
let opened: RawConnection[];

beforeEach(async () => {
  opened = [];
  world = await new HttpWorld({ limits: { connectionsMax: CONNECTIONS_MAX } }).open();
  world.api.gate = new Promise((resolve) => {
    openGate = resolve;
  });
});
afterEach(async () => {
  openGate();
  for (const connection of opened) connection.destroy();
  await world.close();
});

async function open(): Promise<RawConnection> {
  const connection = await RawConnection.open(world.port);
  opened.push(connection);
  return connection;
}

/** One request; the connection is idle again when it has its reply. */
async function isServed(connection: RawConnection): Promise<void> {
  const replies = connection.received.split(ALIVE).length;
  connection.write(LIVENESS);
  await connection.until(new RegExp(`(${ALIVE}.*){${replies}}`, 's'));
}

it('a new connection closes the one that has been idle longest when the table is full', async () => {
  const [first, second, third] = [await open(), await open(), await open()];
  for (const connection of [first, second, third, first]) await isServed(connection);
  const fourth = await open();
  await second.untilClosed();
  for (const connection of [first, third, fourth]) await isServed(connection);
  expect([first.closed, third.closed, fourth.closed]).toEqual([false, false, false]);
});

it('a connection that has never sent anything is closed for a new one', async () => {
  const silent = await open();
  for (let more = 1; more < CONNECTIONS_MAX; more += 1) await isServed(await open());
  await isServed(await open());
  await silent.untilClosed();
});

it('a connection with a request is not closed for a new one, which is closed itself when none is idle', async () => {
  const busy = [await open(), await open(), await open()];
  for (const connection of busy) connection.write(SEND);
  while (world.api.sent.length < CONNECTIONS_MAX) await setImmediate();
  const another = await open();
  await another.untilClosed();
  openGate();
  for (const connection of busy) expect(await connection.until(/200 OK/)).toContain('200 OK');
  await isServed(await open());
});

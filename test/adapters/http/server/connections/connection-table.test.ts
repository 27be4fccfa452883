import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEMO_API_KEY } from '../../../../../src/bootstrap/config/demo-seed.ts';
import { HttpWorld } from '../../http-world.ts';
import { RawConnection } from '../../raw-connection.ts';

const CONNECTIONS_MAX = 3;
const BODY = '{"phoneNumber":"9647701234567","smsType":"verification","verificationCode":"123456"}';
const SEND = `POST /sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEMO_API_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
/** The caller is told to go on when the service has the head. */
const SLOW_HEAD = SEND.slice(0, -BODY.length).replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n');
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

async function open(from?: string): Promise<RawConnection> {
  const connection = await RawConnection.open(world.port, from);
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

describe('a full table with connections of several addresses', () => {
  const [MANY, FEW] = ['127.0.0.2', '127.0.0.3'];

  it('a new connection closes the one whose request came first, of the address that has most', async () => {
    const idle = await open(FEW);
    const busy = [await open(MANY), await open(MANY)] as const;
    for (const [index, connection] of busy.toReversed().entries()) {
      connection.write(SEND);
      while (world.api.sent.length <= index) await setImmediate();
    }
    const another = await open('127.0.0.4');
    await busy[1].untilClosed();
    for (const connection of [idle, another]) await isServed(connection);
    openGate();
    expect(await busy[0].until(/200 OK/)).toContain('200 OK');
  });

  it('a new connection of the address that has most is closed itself when the others of that are busy', async () => {
    const idle = await open(FEW);
    const busy = [await open(MANY), await open(MANY)];
    for (const connection of busy) connection.write(SEND);
    while (world.api.sent.length < busy.length) await setImmediate();
    await (await open(MANY)).untilClosed();
    await isServed(idle);
    openGate();
    for (const connection of busy) expect(await connection.until(/200 OK/)).toContain('200 OK');
  });

  it('an idle connection of an address with few stays open when an address with more has one idle for less long', async () => {
    const idle = await open(FEW);
    await isServed(idle);
    const many = [await open(MANY), await open(MANY)] as const;
    for (const connection of many) await isServed(connection);
    const another = await open('127.0.0.4');
    await many[0].untilClosed();
    for (const connection of [idle, many[1], another]) await isServed(connection);
  });

  it('an idle connection is closed before a busy one when each address has as many', async () => {
    const busy = await open('127.0.0.2');
    busy.write(SEND);
    while (world.api.sent.length < 1) await setImmediate();
    const idle = [await open('127.0.0.3'), await open('127.0.0.4')] as const;
    for (const connection of idle.toReversed()) await isServed(connection);
    const another = await open('127.0.0.5');
    await idle[1].untilClosed();
    for (const connection of [idle[0], another]) await isServed(connection);
    openGate();
    expect(await busy.until(/200 OK/)).toContain('200 OK');
  });

  it('a new connection is served when each address has one connection with a request', async () => {
    const busy = [await open('127.0.0.2'), await open('127.0.0.3'), await open('127.0.0.4')] as const;
    for (const [index, connection] of busy.entries()) {
      connection.write(SEND);
      while (world.api.sent.length <= index) await setImmediate();
    }
    await isServed(await open('127.0.0.5'));
    await busy[0].untilClosed();
    openGate();
    for (const connection of busy.slice(1)) expect(await connection.until(/200 OK/)).toContain('200 OK');
  });

  it.each([
    ['alone', ''],
    ['behind another request', LIVENESS],
  ])(
    'a request that arrives slowly, %s, keeps its connection no longer than none would',
    async (_, before) => {
      const slow = await open('127.0.0.2');
      slow.write(before + SLOW_HEAD);
      await slow.until(/100 Continue/);
      const idle = [await open('127.0.0.3'), await open('127.0.0.4')] as const;
      for (const connection of idle) await isServed(connection);
      const newest = await open('127.0.0.5');
      await slow.untilClosed();
      for (const connection of [...idle, newest]) await isServed(connection);
      await isServed(await open('127.0.0.6'));
      await idle[0].untilClosed();
      for (const connection of [idle[1], newest]) await isServed(connection);
    },
  );

  it('a connection that was idle for long and begins a request is not closed before another that is idle', async () => {
    const first = await open('127.0.0.2');
    await isServed(first);
    const idle = [await open('127.0.0.3'), await open('127.0.0.4')] as const;
    for (const connection of idle) await isServed(connection);
    first.write(SLOW_HEAD);
    await first.until(/100 Continue/);
    await isServed(await open('127.0.0.5'));
    await idle[0].untilClosed();
    first.write(BODY);
    while (world.api.sent.length === 0) await setImmediate();
    openGate();
    expect(await first.until(/200 OK/)).toContain('200 OK');
  });

  it('a request whose body has come keeps its connection while others are idle', async () => {
    const busy = await open('127.0.0.2');
    busy.write(SLOW_HEAD);
    await busy.until(/100 Continue/);
    busy.write(BODY);
    while (world.api.sent.length === 0) await setImmediate();
    const idle = [await open('127.0.0.3'), await open('127.0.0.4')] as const;
    for (const connection of idle) await isServed(connection);
    await isServed(await open('127.0.0.5'));
    await idle[0].untilClosed();
    openGate();
    expect(await busy.until(/200 OK/)).toContain('200 OK');
  });

  it('a request whose body has come keeps its connection while nobody has read the body', async () => {
    let openKeyGate = (): void => {};
    world.api.keyGate = new Promise((resolve) => {
      openKeyGate = resolve;
    });
    const busy = await open('127.0.0.2');
    busy.write(SEND);
    while (world.api.networks.length === 0) await setImmediate();
    const idle = [await open('127.0.0.3'), await open('127.0.0.4')] as const;
    for (const connection of idle) await isServed(connection);
    await isServed(await open('127.0.0.5'));
    await idle[0].untilClosed();
    openKeyGate();
    openGate();
    expect(await busy.until(/200 OK/)).toContain('200 OK');
  });

  it('an address whose connections have closed has none of them any more', async () => {
    const left = [await open(MANY), await open(MANY)];
    for (const connection of left) {
      await isServed(connection);
      connection.destroy();
    }
    while ((await connectionCount()) > 0) await setImmediate();
    const few = [await open(FEW), await open(FEW)] as const;
    for (const connection of few) await isServed(connection);
    const one = await open(MANY);
    await isServed(one);
    await isServed(await open('127.0.0.4'));
    await few[0].untilClosed();
    for (const connection of [few[1], one]) await isServed(connection);
  });
});

function connectionCount(): Promise<number> {
  return new Promise((resolve, reject) => {
    world.http.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

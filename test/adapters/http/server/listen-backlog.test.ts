import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { ListenBacklog } from '../../../../src/adapters/http/server/listen-backlog.ts';
import { portOf } from '../../../support/port-of.ts';

it('connections may wait in the round in which one was accepted and in the next, and not after', async () => {
  const server = createServer();
  const backlog = new ListenBacklog(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect(backlog.mayWait).toBe(false);
  const client = connect(portOf(server), '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  await once(server, 'connection');
  expect(backlog.mayWait).toBe(true);
  await setImmediate();
  expect(backlog.mayWait).toBe(true);
  await setImmediate();
  expect(backlog.mayWait).toBe(false);
});

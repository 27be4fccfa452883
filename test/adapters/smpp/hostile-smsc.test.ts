import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { setImmediate as eventLoopRound } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { encodePdu } from '../../../src/adapters/smpp/packaged-pdu.ts';
import { LAST_RESPONSE_TIMEOUT_MS, SmppSession } from '../../../src/adapters/smpp/smpp-session.ts';
import { heldMemory } from '../../support/held-memory.ts';
import { portOf } from '../../support/port-of.ts';
import { ManualTimeouts } from './manual-timeouts.ts';

const MEBIBYTE = 1_048_576;
const ENQUIRIES = Buffer.concat(
  Array.from({ length: 2_000 }, (_, index) => encodePdu('enquire_link', index + 1, {})),
);

/** An SMSC that takes a bind, and reads nothing any more. */
async function bound() {
  const timers = new ManualTimeouts();
  const smsc = createServer({ pauseOnConnect: false }).listen(0, '127.0.0.1');
  await once(smsc, 'listening');
  const arrived = new Promise<Socket>((resolve) => {
    smsc.once('connection', (peer) => {
      peer.on('error', () => {});
      peer.once('data', () => {
        peer.pause();
        peer.write(encodePdu('bind_transceiver_resp', 1, { command_status: 0, system_id: 'smsc' }));
        resolve(peer);
      });
    });
  });
  const session = new SmppSession({
    address: { host: '127.0.0.1', port: portOf(smsc), tls: false },
    credentials: { systemId: 'a', password: 'b', systemType: '' },
    window: 10,
    enquireLinkMs: 60_000,
    readingMs: 1_000,
    timeouts: timers.timeouts,
    onDelivery() {},
    onInvalid() {},
    onChange() {},
  });
  expect(await session.bind()).toEqual({ kind: 'bound' });
  const peer = await arrived;
  onTestFinished(() => {
    peer.destroy();
    smsc.close();
  });
  return { session, peer, timers, ours: socketTo(portOf(smsc)) };
}

/** The end of a connection that a session of this process has. */
function socketTo(port: number): Socket {
  const handles = (process as unknown as { _getActiveHandles(): readonly unknown[] })._getActiveHandles();
  const found = handles.find((each) => each instanceof Socket && each.remotePort === port);
  if (!(found instanceof Socket)) throw new Error('The session has a socket');
  return found;
}

it('an SMSC that unbinds and reads nothing any more is closed, and what it sends meanwhile is not kept', async () => {
  const { session, peer, timers, ours } = await bound();
  // Until the buffers of the system are full: responses wait in the process.
  while (ours.writableLength === 0) {
    peer.write(ENQUIRIES);
    await eventLoopRound();
  }
  peer.write(encodePdu('unbind', 1, {}));
  expect(await session.ended).toBe('The SMSC unbound the session');
  expect(ours.destroyed).toBe(false);
  const before = await heldMemory();
  const zeros = Buffer.alloc(MEBIBYTE);
  for (let sent = 0; sent < 64; sent += 1) await new Promise((resolve) => peer.write(zeros, resolve));
  expect((await heldMemory()) - before).toBeLessThan(16 * MEBIBYTE);
  timers.expire(LAST_RESPONSE_TIMEOUT_MS);
  expect(ours.destroyed).toBe(true);
});

import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { encodePdu } from '../../../src/adapters/smpp/packaged-pdu.ts';
import type { SubmitFields } from '../../../src/adapters/smpp/pdu-writer.ts';
import { SmppSession, type SmppSessionOptions } from '../../../src/adapters/smpp/smpp-session.ts';
import { portOf } from '../../support/port-of.ts';
import { peerConnections } from '../../support/provider-tls.ts';
import { ManualTimeouts } from './manual-timeouts.ts';

/** One that any SMSC takes. */
export const A_SUBMIT: SubmitFields = {
  source_addr_ton: 5,
  source_addr_npi: 0,
  source_addr: 'Barid',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  destination_addr: '9647701234567',
  esm_class: 0,
  validity_period: '',
  registered_delivery: 1,
  data_coding: 0,
  short_message: { header: [], encoding: 'gsm7', text: 'x' },
};

/** A session that is bound, and the SMSC's end of its connection: nothing more was read there. */
export async function boundSession(given: Partial<SmppSessionOptions> = {}) {
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
    ...peerConnections,
    credentials: { systemId: 'a', password: 'b', systemType: '' },
    window: 10,
    enquireLinkMs: 60_000,
    readingMs: 1_000,
    timeouts: timers.timeouts,
    onDelivery() {},
    onInvalid() {},
    onFault(error) {
      throw error;
    },
    onChange() {},
    ...given,
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

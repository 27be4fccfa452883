import { setImmediate as eventLoopRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { encodePdu } from '../../../src/adapters/smpp/packaged-pdu.ts';
import { LAST_RESPONSE_TIMEOUT_MS } from '../../../src/adapters/smpp/pdu-connection.ts';
import { UNBOUND_TIMEOUT_MS } from '../../../src/adapters/smpp/smpp-session.ts';
import { heldMemory } from '../../support/held-memory.ts';
import { until } from '../../support/until.ts';
import { A_SUBMIT, boundSession } from './bound-session.ts';

const MEBIBYTE = 1_048_576;
const ENQUIRIES = Buffer.concat(
  Array.from({ length: 2_000 }, (_, index) => encodePdu('enquire_link', index + 1, {})),
);

it('an SMSC that unbinds and reads nothing any more is closed, and what it sends meanwhile is not kept', async () => {
  const { session, peer, timers, ours } = await boundSession();
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

it('an SMSC that unbinds, and goes on without the response it owes, is read no longer than two seconds', async () => {
  const { session, peer, timers, ours } = await boundSession();
  peer.resume();
  session.submit(A_SUBMIT, () => undefined);
  peer.write(encodePdu('unbind', 1, {}));
  await until(() => !session.isUsable);
  const before = await heldMemory();
  for (let sent = 0; sent < 200; sent += 1) await new Promise((resolve) => peer.write(ENQUIRIES, resolve));
  expect((await heldMemory()) - before).toBeLessThan(16 * MEBIBYTE);
  timers.expire(UNBOUND_TIMEOUT_MS);
  expect(await session.ended).toBe('The SMSC unbound the session');
  expect(ours.destroyed).toBe(true);
});

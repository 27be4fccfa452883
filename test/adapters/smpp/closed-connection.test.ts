import { setImmediate as eventLoopRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { encodePdu } from '../../../src/adapters/smpp/packaged-pdu.ts';
import { LAST_RESPONSE_TIMEOUT_MS } from '../../../src/adapters/smpp/pdu-connection.ts';
import { ENQUIRE_LINK_TIMEOUT_MS, UNBOUND_TIMEOUT_MS } from '../../../src/adapters/smpp/smpp-session.ts';
import { until } from '../../support/until.ts';
import { A_SUBMIT, boundSession } from './bound-session.ts';

const SUBMITS = 40;
const RECEIPTS = 300;
const ENQUIRE_LINK_MS = 60_000;
/** One PDU or few are read in a round of the event loop. */
const READING_MS = 0.000_001;

/** A session with submits, and what its SMSC sends: receipts, and the responses behind them. */
async function withSubmits() {
  const seen = { receipts: 0, ids: [] as (string | null)[], capacities: new Set<number>() };
  const { session, peer, timers, ours } = await boundSession({
    window: SUBMITS + 1,
    enquireLinkMs: ENQUIRE_LINK_MS,
    readingMs: READING_MS,
    onDelivery: () => {
      seen.receipts += 1;
      if (ours.destroyed) seen.capacities.add(session.capacity);
    },
  });
  const sequences = Array.from({ length: SUBMITS }, () =>
    session.submit(A_SUBMIT, (response) => seen.ids.push(response?.messageId ?? null)),
  );
  const burst = Buffer.concat([
    // More than the socket hands on at once.
    ...Array.from({ length: RECEIPTS }, (_, index) =>
      encodePdu('deliver_sm', index + 1, { esm_class: 4, short_message: 'x'.repeat(240) }),
    ),
    ...sequences.map((sequence) =>
      encodePdu('submit_sm_resp', sequence, { command_status: 0, message_id: `id${sequence}` }),
    ),
  ]);
  /** Resolves once all of the burst is in this process, and not yet read. */
  const arrived = async (): Promise<void> => {
    const before = ours.bytesRead;
    peer.write(burst);
    while (ours.bytesRead < before + burst.length) await eventLoopRound();
    expect(seen.receipts).toBeLessThan(RECEIPTS);
  };
  return { session, peer, timers, ours, burst, arrived, seen, all: sequences.map((each) => `id${each}`) };
}

it('responses that came before the SMSC closed the connection count, however many receipts came before them', async () => {
  const { session, peer, burst, seen, all } = await withSubmits();
  peer.end(burst);
  expect(await session.ended).toBe('The SMSC closed the connection');
  expect(seen.ids).toEqual(all);
  expect(seen.receipts).toBe(RECEIPTS);
});

it('responses that came before the connection failed count, and meanwhile the session takes nothing new', async () => {
  const { session, ours, arrived, seen, all } = await withSubmits();
  await arrived();
  ours.destroy(Object.assign(new Error('Reset'), { code: 'ECONNRESET' }));
  expect(await session.ended).toBe('The connection failed: ECONNRESET');
  expect(seen.ids).toEqual(all);
  expect(seen.receipts).toBe(RECEIPTS);
  expect([...seen.capacities]).toEqual([0]);
});

it('responses that came before the SMSC was given up count', async () => {
  const { session, timers, arrived, seen, all } = await withSubmits();
  timers.expire(ENQUIRE_LINK_MS);
  await arrived();
  timers.expire(ENQUIRE_LINK_TIMEOUT_MS);
  expect(await session.ended).toBe('The SMSC does not respond');
  expect(seen.ids).toEqual(all);
  expect(timers.all).toEqual([]);
});

const UNBIND = encodePdu('unbind', 7, {});

it('responses that come behind the unbind of the SMSC count, and the session ends with the last', async () => {
  const { session, peer, timers, seen, burst, all } = await withSubmits();
  peer.write(UNBIND);
  await until(() => !session.isUsable);
  expect([session.capacity, session.problem]).toEqual([0, 'The SMSC unbound the session']);
  peer.write(burst);
  expect(await session.ended).toBe('The SMSC unbound the session');
  expect(seen.ids).toEqual(all);
  expect(seen.receipts).toBe(RECEIPTS);
  await until(() => timers.all.length === 0);
});

it('responses in one write with the unbind of the SMSC count, and the unbind has its response', async () => {
  const { session, peer, seen, burst, all } = await withSubmits();
  const received: Buffer[] = [];
  peer.on('data', (chunk: Buffer) => received.push(chunk)).resume();
  peer.write(Buffer.concat([UNBIND, burst]));
  expect(await session.ended).toBe('The SMSC unbound the session');
  expect(seen.ids).toEqual(all);
  const response = encodePdu('unbind_resp', 7, { command_status: 0 });
  await until(() => Buffer.concat(received).includes(response));
});

it('a submit that has no response soon after the unbind of the SMSC has none, and the session ends', async () => {
  const { session, peer, timers, seen } = await withSubmits();
  peer.write(UNBIND);
  await until(() => !session.isUsable);
  const closed = session.unbind(UNBOUND_TIMEOUT_MS);
  expect(seen.ids).toEqual([]);
  timers.expire(UNBOUND_TIMEOUT_MS);
  expect(await session.ended).toBe('The SMSC unbound the session');
  await closed;
  expect(new Set(seen.ids)).toEqual(new Set([null]));
});

it('an unbind of a session whose connection is over ends with it, after the responses that came', async () => {
  const { session, ours, arrived, seen, all } = await withSubmits();
  await arrived();
  ours.destroy();
  await until(() => !session.isUsable);
  await session.unbind(1_000);
  expect(seen.ids).toEqual(all);
});

it('a submit whose response did not come before the connection was closed has none', async () => {
  const { session, peer, burst, seen, all } = await withSubmits();
  const isTaken = new Promise((resolve) => session.submit(A_SUBMIT, resolve));
  peer.end(burst);
  expect(await isTaken).toBeNull();
  expect(seen.ids).toEqual(all);
  expect(await session.ended).toBe('The SMSC closed the connection');
});

it('a connection of which the SMSC has closed its side, and reads nothing, is closed soon', async () => {
  const { session, peer, timers, ours } = await boundSession();
  // Until the buffers of the system are full: responses wait in the process.
  while (ours.writableLength === 0) {
    peer.write(Buffer.concat(Array.from({ length: 2_000 }, () => encodePdu('enquire_link', 1, {}))));
    await eventLoopRound();
  }
  peer.end();
  expect(await session.ended).toBe('The SMSC closed the connection');
  expect(ours.destroyed).toBe(false);
  timers.expire(LAST_RESPONSE_TIMEOUT_MS);
  expect(ours.destroyed).toBe(true);
});

it('a PDU that this program fails at is logged, and ends the session behind what has come with it', async () => {
  const faults: unknown[] = [];
  const ids: (string | null)[] = [];
  const fault = new Error('A fault of ours');
  const { session, peer } = await boundSession({
    onDelivery: () => {
      throw fault;
    },
    onFault: (error) => faults.push(error),
  });
  const sequence = session.submit(A_SUBMIT, (response) => ids.push(response?.messageId ?? null));
  peer.write(
    Buffer.concat([
      encodePdu('deliver_sm', 1, { esm_class: 4, short_message: 'x' }),
      encodePdu('submit_sm_resp', sequence, { command_status: 0, message_id: 'behind' }),
    ]),
  );
  expect(await session.ended).toBe('A PDU could not be worked on');
  expect(ids).toEqual(['behind']);
  expect(faults).toEqual([fault]);
});

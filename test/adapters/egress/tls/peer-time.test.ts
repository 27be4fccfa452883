import { afterEach, beforeEach, expect, it } from 'vitest';
import { PEER_ROUND_MS, PeerTime, RECEIVER_SHARES } from '../../../../src/adapters/egress/tls/peer-time.ts';
import type { PeerWork } from '../../../../src/adapters/egress/tls/peer-work.ts';
import { nextRound } from '../../../../src/application/concurrency/next-round.ts';
import { until } from '../../../support/until.ts';

let now: number;
let processorMs: number;
let peerTime: PeerTime;
/** The names of the pieces that were computed, in order. */
let computed: string[];

beforeEach(() => {
  now = 1_000;
  processorMs = 0;
  computed = [];
  peerTime = new PeerTime(
    RECEIVER_SHARES,
    () => now,
    () => processorMs,
  );
});
afterEach(() => peerTime.close());

interface Piece {
  readonly ms?: number;
  readonly owed?: number;
  readonly waitsForDebt?: boolean;
  readonly count?: number;
}

/** Work of one piece, or of so many. */
function work(name: string, { ms = 0, owed = 0, waitsForDebt = true, count = 1 }: Piece = {}): PeerWork {
  let left = count;
  return {
    waitsForDebt,
    get isReady() {
      return left > 0;
    },
    compute: () => {
      left -= 1;
      now += ms;
      computed.push(name);
    },
    spend: () => owed,
  };
}

it('work is done at once, all of its pieces, until this round of the event loop has had enough', async () => {
  peerTime.run('a', work('first', { ms: PEER_ROUND_MS / 2, count: 2 }));
  peerTime.run('a', work('second'));
  expect(computed).toEqual(['first', 'first']);
  await nextRound();
  await until(() => computed.length === 3);
});

it('in a later turn the pieces of projects follow each other in rotation', async () => {
  peerTime.run('a', work('a', { ms: PEER_ROUND_MS }));
  for (const each of ['a1', 'a2', 'a3']) peerTime.run('a', work(each, { waitsForDebt: false }));
  for (const each of ['b1', 'b2']) peerTime.run('b', work(each, { waitsForDebt: false }));
  expect(computed).toEqual(['a']);
  await until(() => computed.length === 6);
  expect(computed).toEqual(['a', 'a1', 'b1', 'a2', 'b2', 'a3']);
});

it('no more than its time is used in one round of the event loop, and one piece that was begun', async () => {
  peerTime.run('a', work('first', { ms: PEER_ROUND_MS }));
  peerTime.run('a', work('later', { ms: PEER_ROUND_MS - 1, count: 5 }));
  await nextRound();
  await nextRound();
  expect(computed.length).toBeLessThanOrEqual(5);
  await until(() => computed.length === 6);
});

it('a project in debt waits until that is repaid, and others do not', async () => {
  peerTime.run('a', work('costly', { owed: 50 }));
  peerTime.run('a', work('waits'));
  peerTime.run('b', work('other'));
  expect(computed).toEqual(['costly', 'other']);
  now += 50 / RECEIVER_SHARES.owner - 1;
  peerTime.run('a', work('waits too'));
  await nextRound();
  expect(computed).toEqual(['costly', 'other']);
  now += 2;
  peerTime.run('b', work('another'));
  await until(() => computed.length === 5);
  expect(computed.slice(2)).toEqual(['waits too', 'another', 'waits']);
});

it('what waits for no debt is done at once while its project is in debt', async () => {
  peerTime.run('a', work('costly', { owed: 50 }));
  peerTime.run('a', work('handshake'));
  peerTime.run('a', work('response', { waitsForDebt: false }));
  await until(() => computed.length === 2);
  expect(computed).toEqual(['costly', 'response']);
});

it('a piece counts for no more than what the process had of the processor meanwhile', () => {
  const counted: number[] = [];
  const paused = (ms: number, ofProcessor: number): PeerWork => {
    let isDone = false;
    return {
      waitsForDebt: true,
      get isReady() {
        return !isDone;
      },
      compute: () => {
        isDone = true;
        now += ms;
        processorMs += ofProcessor;
      },
      spend: (spent) => {
        counted.push(spent);
        return 0;
      },
    };
  };
  peerTime.run('a', paused(0.5, 0));
  peerTime.run('a', paused(5, 0));
  peerTime.run('a', paused(80, 20));
  expect(counted).toEqual([0.5, 0, 20]);
});

it('the debts of many projects are repaid in a part of the time that they share', async () => {
  const debtors = Math.ceil((2 * RECEIVER_SHARES.all) / RECEIVER_SHARES.owner);
  for (let index = 0; index < debtors; index += 1) peerTime.run(`p${index}`, work('costly', { owed: 10 }));
  peerTime.run('p0', work('waits'));
  now += 10 / RECEIVER_SHARES.owner + 1;
  peerTime.run('other', work('other', { ms: PEER_ROUND_MS }));
  await nextRound();
  await nextRound();
  expect(computed).not.toContain('waits');
  now += 10 / RECEIVER_SHARES.owner;
  peerTime.run('other', work('other'));
  await until(() => computed.includes('waits'));
});

it('a debt is repaid faster as soon as other debtors are out of debt', async () => {
  for (let index = 0; index < 30; index += 1) peerTime.run(`p${index}`, work('small', { owed: 0.1 }));
  peerTime.run('a', work('costly', { owed: 10 }));
  peerTime.run('a', work('waits'));
  // The small debts take 20.7 ms, and what is left of the large one 495 ms.
  now += 515;
  peerTime.run('other', work('other'));
  await nextRound();
  expect(computed).not.toContain('waits');
  now += 2;
  peerTime.run('other', work('other'));
  await until(() => computed.includes('waits'));
});

it('work that was dropped is not done, and the rest goes on', async () => {
  const dropped = work('dropped');
  peerTime.run('a', work('costly', { owed: 1 }));
  peerTime.run('a', work('waits'));
  peerTime.run('a', dropped);
  peerTime.drop('a', dropped);
  now += 1 / RECEIVER_SHARES.owner + 1;
  peerTime.run('b', work('other'));
  await until(() => computed.length === 3);
  expect(computed).toEqual(['costly', 'waits', 'other']);
});

it('work without a piece waits for nothing, and is done when it is run again', async () => {
  let isReady = false;
  const blocked: PeerWork = {
    waitsForDebt: true,
    get isReady() {
      return isReady;
    },
    compute: () => {
      computed.push('blocked');
      isReady = false;
    },
    spend: () => 0,
  };
  peerTime.run('a', blocked);
  await nextRound();
  expect(computed).toEqual([]);
  isReady = true;
  peerTime.run('a', blocked);
  expect(computed).toEqual(['blocked']);
});

it('work that comes while other work is done waits for it', async () => {
  peerTime.run('a', {
    waitsForDebt: false,
    get isReady() {
      return !computed.includes('outer');
    },
    compute: () => {
      peerTime.run('a', work('inner'));
      computed.push('outer');
    },
    spend: () => 0,
  });
  await until(() => computed.length === 2);
  expect(computed).toEqual(['outer', 'inner']);
});

it('work that waits is not done after the end', async () => {
  peerTime.run('a', work('costly', { ms: PEER_ROUND_MS, owed: 1 }));
  peerTime.run('a', work('waits'));
  peerTime.run('b', work('waits'));
  peerTime.close();
  now += 1_000;
  await nextRound();
  await nextRound();
  expect(computed).toEqual(['costly']);
});

it('handshakes are free until their project has had many, and again when time has passed', async () => {
  const handshake = (name: string, ms: number): PeerWork => {
    const one = work(name, { ms });
    return {
      ...one,
      get isReady() {
        return one.isReady;
      },
      compute: () => {
        one.compute();
        processorMs += ms;
      },
    };
  };
  const handshakes = RECEIVER_SHARES.freeMsMax / 5;
  for (let index = 0; index < handshakes; index += 1) {
    peerTime.run('a', handshake('free', 5));
    await until(() => computed.length === index + 1);
  }
  // 5 % of the 200 ms that they took is free again: 10 ms.
  peerTime.run('a', handshake('large', 20));
  await until(() => computed.includes('large'));
  peerTime.run('a', handshake('waits', 1));
  await nextRound();
  await nextRound();
  expect(computed).not.toContain('waits');
  now += 10 / RECEIVER_SHARES.owner;
  peerTime.run('b', handshake('other', 1));
  await until(() => computed.includes('waits'));
  expect(RECEIVER_SHARES.free).toBe(0.05);
});

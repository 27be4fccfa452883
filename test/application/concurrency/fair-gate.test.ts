import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { FairGate, HANGING_WORK_MS } from '../../../src/application/concurrency/fair-gate.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { StorageAway } from '../../../src/application/errors/storage-unavailable.ts';
import { LONG_LOCK_WAIT_MS } from '../../../src/application/ports/unit-of-work.ts';
import { uncancelled } from '../../support/uncancelled.ts';

const LOCKED = new StorageLocked(new Error('locked'));

/** A gate, and requests that work until they are told to end. */
function gateWorld() {
  const clock = { at: 0, now: () => clock.at };
  const pauses: (() => void)[] = [];
  const gate = new FairGate(
    { perKey: 2, all: 6 },
    { clock, lockRetryDelay: uncancelled((over) => pauses.push(over)) },
  );
  const running: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const request = (project: string, name: string, signal?: AbortSignal) =>
    gate.run(
      project,
      () =>
        new Promise<string>((resolve, reject) => {
          running.push(name);
          ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
        }),
      signal,
    );
  /** Ends a request, and lets what waits for it begin. */
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error);
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  /** Ends the pause of the request that began it first. */
  const endPause = async () => {
    pauses.shift()?.();
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return { request, running, end, endPause, clock, pauses };
}

describe('a fair gate', () => {
  it('a gate for two of a key and six in all lets so many work at a time', async () => {
    const { request, running, end } = gateWorld();
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'd1'].map((name) =>
      request(name.charAt(0), name),
    );
    await end('nobody');
    expect(running).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2']);
    await end('c1');
    expect(running.slice(6)).toEqual(['d1']);
    await end('a1');
    expect(running.slice(7)).toEqual(['a3']);
    for (const name of ['a2', 'a3', 'b1', 'b2', 'c2', 'd1']) await end(name);
    await end('b3');
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'd1']);
  });

  it('the gate serves projects in turn, however many requests one of them has waiting', async () => {
    const { request, running, end } = gateWorld();
    for (const project of ['x', 'y', 'z']) {
      void request(project, `${project}1`);
      void request(project, `${project}2`);
    }
    for (const n of [1, 2, 3, 4]) void request('a', `a${n}`);
    void request('b', 'b1');
    void request('b', 'b2');
    await end('nobody');
    await end('x1');
    await end('x2');
    await end('y1');
    expect(running.slice(6)).toEqual(['a1', 'b1', 'a2']);
    await end('y2');
    expect(running.slice(9)).toEqual(['b2']);
    await end('z1');
    // Two of each work: the third of one of them waits.
    expect(running).toHaveLength(10);
    await end('a1');
    expect(running.slice(10)).toEqual(['a3']);
  });

  it('requests that meet a lock make their places free for other projects, and one of them tries again', async () => {
    const { request, running, end, endPause, pauses } = gateWorld();
    for (const project of ['x', 'y', 'z']) {
      void request(project, `${project}1`);
      void request(project, `${project}2`);
    }
    const waiting = [request('x', 'x3'), request('a', 'a1'), request('a', 'a2')];
    await end('nobody');
    await end('x1', LOCKED);
    expect([running.slice(6), pauses.length]).toEqual([['a1'], 1]);
    // The other one waits for the first, without a pause of its own.
    await end('x2', LOCKED);
    expect([running.slice(7), pauses.length]).toEqual([['a2'], 1]);
    // All places are taken: the first waits for one, before what waits for it.
    await endPause();
    expect(running.slice(8)).toEqual([]);
    await end('a1');
    expect(running.slice(8)).toEqual(['x1']);
    await end('x1', LOCKED);
    await endPause();
    expect([running.slice(9), pauses.length]).toEqual([['x1'], 0]);
    await end('a2');
    expect(running.slice(10)).toEqual([]);
    await end('x1');
    expect(running.slice(10)).toEqual(['x2', 'x3']);
    await end('x3');
    expect(await Promise.all(waiting)).toEqual(['x3', 'a1', 'a2']);
  });

  it('a request that meets a lock again and again is rejected after ten seconds, and makes its place free', async () => {
    const { request, running, end, endPause, clock } = gateWorld();
    const locked = expect(request('a', 'a1')).rejects.toBe(LOCKED);
    void request('a', 'a2');
    void request('a', 'a3');
    await end('nobody');
    await end('a1', LOCKED);
    clock.at += LONG_LOCK_WAIT_MS - 1;
    await endPause();
    await end('a1', LOCKED);
    await endPause();
    clock.at += 1;
    await end('a1', LOCKED);
    await locked;
    expect(running).toEqual(['a1', 'a2', 'a1', 'a1', 'a3']);
  });

  it('requests that wait are rejected when the database hangs, and not when a connection was lost at once', async () => {
    const { request, running, end, clock } = gateWorld();
    const away = new StorageAway(new Error('no response'));
    const lost = expect(request('a', 'a1')).rejects.toBe(away);
    const hanging = expect(request('a', 'a2')).rejects.toBe(away);
    const waiting = [request('a', 'a3'), request('a', 'a4'), request('a', 'a5')] as const;
    await end('nobody');
    clock.at += HANGING_WORK_MS - 1;
    await end('a1', away);
    await lost;
    expect(running).toEqual(['a1', 'a2', 'a3']);
    clock.at += 1;
    const rejected = waiting.slice(1).map((each) => expect(each).rejects.toBe(away));
    await end('a2', away);
    await Promise.all([hanging, ...rejected]);
    await end('a3');
    expect(await waiting[0]).toBe('a3');
    void request('a', 'a6');
    await end('nobody');
    expect(running).toEqual(['a1', 'a2', 'a3', 'a6']);
  });

  it('a request that fails makes its place free', async () => {
    const { request, running, end } = gateWorld();
    const failing = request('a', 'a1');
    void request('a', 'a2');
    void request('a', 'a3');
    await end('nobody');
    expect(running).toEqual(['a1', 'a2']);
    await Promise.all([expect(failing).rejects.toThrow('planted'), end('a1', new Error('planted'))]);
    expect(running).toEqual(['a1', 'a2', 'a3']);
  });

  it('what waits is dropped at once when its signal aborts, and runs no more', async () => {
    const { request, running, end } = gateWorld();
    const left = new AbortController();
    void request('a', 'a1');
    void request('a', 'a2');
    const leaving = expect(request('a', 'a3', left.signal)).rejects.toBe('left');
    void request('a', 'a4', left.signal).catch(() => {});
    void request('a', 'a5');
    left.abort('left');
    await leaving;
    await end('a1');
    expect(running).toEqual(['a1', 'a2', 'a5']);
    await expect(request('b', 'b1', left.signal)).rejects.toBe('left');
  });

  it('a signal has no listener of work that waits no longer, however that ended', async () => {
    const { request, end, clock } = gateWorld();
    const { signal } = new AbortController();
    const away = new StorageAway(new Error('away'));
    const hanging = expect(request('a', 'a1')).rejects.toBe(away);
    void request('a', 'a2');
    const rejected = expect(request('a', 'a3', signal)).rejects.toBe(away);
    await end('nobody');
    clock.at += HANGING_WORK_MS;
    await end('a1', away);
    await Promise.all([hanging, rejected]);
    const letThrough = request('a', 'a4', signal);
    await end('nobody');
    await end('a2');
    await end('a4');
    await letThrough;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('what was let through goes on when its signal aborts', async () => {
    const { request, running, end } = gateWorld();
    const left = new AbortController();
    const inside = request('a', 'a1', left.signal);
    void request('a', 'a2');
    const later = request('a', 'a3', left.signal);
    await end('nobody');
    await end('a2');
    expect(running).toEqual(['a1', 'a2', 'a3']);
    left.abort('left');
    await end('a1');
    await end('a3');
    expect([await inside, await later]).toEqual(['a1', 'a3']);
  });
});

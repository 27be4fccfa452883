import { expect, it, vi } from 'vitest';
import { CampaignGate } from '../../../src/application/campaigns/campaign-gate.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { uncancelled } from '../../support/uncancelled.ts';

it('one request about campaigns of a project works at a time, and two in all', async () => {
  const gate = new CampaignGate({
    clock: { now: () => 0 },
    lockRetryDelay: () => () => {},
    eventLoop: { busyMs: () => 0, pause: async () => {} },
  });
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const request = (project: string, name: string) =>
    gate.run(project, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const all = ['a1', 'a2', 'b1', 'c1'].map((name) => request(name.charAt(0), name));
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  await end('nobody');
  expect(running).toEqual(['a1', 'b1']);
  await end('b1');
  expect(running.slice(2)).toEqual(['c1']);
  await end('a1');
  expect(running.slice(3)).toEqual(['a2']);
  for (const name of ['c1', 'a2']) await end(name);
  await Promise.all(all);
});

it('a request is replied to before the pause behind it, and the next one works behind that', async () => {
  let busyMs = 0;
  const pauses: { readonly ms: number; readonly over: () => void }[] = [];
  const gate = new CampaignGate({
    clock: { now: () => 0 },
    lockRetryDelay: () => () => {},
    eventLoop: {
      busyMs: () => busyMs,
      pause: (ms) => new Promise<void>((over) => void pauses.push({ ms, over })),
    },
  });
  const begun: string[] = [];
  const request = (name: string) =>
    gate.run('a', async () => {
      begun.push(name);
      busyMs += 40;
      return name;
    });
  expect(await request('a1')).toBe('a1');
  const next = request('a2');
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect([begun, pauses.map(({ ms }) => ms)]).toEqual([['a1'], [80]]);
  pauses[0]?.over();
  expect(await next).toBe('a2');
});

it('a request that meets a lock is tried again, and one that fails rejects', async () => {
  const retries: (() => void)[] = [];
  const gate = new CampaignGate({
    clock: { now: () => 0 },
    lockRetryDelay: uncancelled((over) => retries.push(over)),
    eventLoop: { busyMs: () => 0, pause: async () => {} },
  });
  let tries = 0;
  const locked = gate.run('a', async () => {
    tries += 1;
    if (tries === 1) throw new StorageLocked(new Error('locked'));
    return 'done';
  });
  await vi.waitFor(() => expect(retries).toHaveLength(1));
  retries[0]?.();
  expect(await locked).toBe('done');
  await expect(gate.run('a', () => Promise.reject(new Error('planted')))).rejects.toThrow('planted');
});

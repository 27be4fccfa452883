import { expect, it } from 'vitest';
import { CampaignGate } from '../../../src/application/campaigns/campaign-gate.ts';

it('one request about campaigns of a project works at a time, and two in all', async () => {
  const gate = new CampaignGate({ clock: { now: () => 0 }, lockRetryDelay: () => {} });
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

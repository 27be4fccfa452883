import { expect, it } from 'vitest';
import { NOW } from '../support/builders.ts';
import { type Storage, storageOfSuite } from './storage.ts';

/** What every worker store promises. */
export function workerStoreContract(open: () => Promise<Storage>): void {
  const { run, read } = storageOfSuite(open);
  const seenSince = (since: number) => read(({ workers }) => workers.seenSince(since));

  it('the worker store has seen no worker at first', async () => {
    expect(await seenSince(0)).toEqual({ count: 0, newestAt: null });
  });

  it('the worker store counts the workers seen at an instant or later, and names the newest of all', async () => {
    await run(async ({ workers }) => {
      await workers.markSeen('first', NOW - 1);
      await workers.markSeen('second', NOW);
      await workers.markSeen('third', NOW + 1);
    });
    expect(await seenSince(NOW)).toEqual({ count: 2, newestAt: NOW + 1 });
    expect(await seenSince(NOW + 2)).toEqual({ count: 0, newestAt: NOW + 1 });
  });

  it('the worker store counts a worker that was seen several times once, at the latest call', async () => {
    await run(({ workers }) => workers.markSeen('same', NOW));
    await run(({ workers }) => workers.markSeen('same', NOW + 5_000));
    expect(await seenSince(NOW)).toEqual({ count: 1, newestAt: NOW + 5_000 });
  });

  it('the worker store says when each worker was last seen', async () => {
    expect(await read(({ workers }) => workers.all())).toEqual(new Map());
    await run(async ({ workers }) => {
      await workers.markSeen('first', NOW - 1);
      await workers.markSeen('second', NOW);
    });
    expect(await read(({ workers }) => workers.all())).toEqual(
      new Map([
        ['first', NOW - 1],
        ['second', NOW],
      ]),
    );
  });

  it('the worker store removes workers and leaves the others, also when they are not there', async () => {
    await run(async ({ workers }) => {
      await workers.markSeen('stays', NOW);
      await workers.markSeen('goes', NOW + 1);
      await workers.markSeen('goes too', NOW + 2);
    });
    await run(({ workers }) => workers.remove(['goes', 'goes too']));
    await run(({ workers }) => workers.remove(['goes']));
    await run(({ workers }) => workers.remove([]));
    expect(await seenSince(0)).toEqual({ count: 1, newestAt: NOW });
  });
}

import { describe, expect, it } from 'vitest';
import { RotatingBatches } from '../../../src/application/batching/rotating-batches.ts';
import type { ItemSettled } from '../../../src/application/batching/waiting-items.ts';
import { StorageAway } from '../../../src/application/errors/storage-unavailable.ts';

/** A batch that was handed over, and what ends it. */
interface HandedOver {
  readonly items: readonly string[];
  readonly settled: ItemSettled;
  readonly letNextFollow: () => void;
}

/** Batches of two by the first letter, which stay open until a test ends them. */
class Batches {
  readonly handedOver: HandedOver[] = [];
  readonly batches = new RotatingBatches<string>({
    batchMax: 2,
    keyOf: (item) => item.charAt(0),
    work: (items, settled) =>
      new Promise((letNextFollow) => {
        this.handedOver.push({ items, settled, letNextFollow });
      }),
  });

  /** Settles each item of the newest batch with what `failureOf` returns, and lets the next follow. */
  async end(failureOf: (item: string) => unknown = () => null): Promise<void> {
    const batch = this.handedOver.at(-1);
    for (const [index, item] of (batch?.items ?? []).entries()) batch?.settled(index, failureOf(item));
    batch?.letNextFollow();
    await round();
  }

  get items(): readonly (readonly string[])[] {
    return this.handedOver.map(({ items }) => items);
  }
}

const round = () => new Promise((resolve) => setImmediate(resolve));

/** What becomes of a promise: `open` until then. */
function outcomeOf(promise: Promise<void>) {
  const outcome: { is: unknown } = { is: 'open' };
  promise.then(
    () => {
      outcome.is = 'done';
    },
    (failure) => {
      outcome.is = failure;
    },
  );
  return outcome;
}

describe('batches in rotation', () => {
  it('items of many callers go one batch after the other, by key in rotation', async () => {
    const world = new Batches();
    const many = outcomeOf(world.batches.submit(['a1', 'a2', 'a3', 'a4']));
    const one = outcomeOf(world.batches.submit(['b1']));
    await round();
    expect(world.items).toEqual([['a1', 'b1']]);
    await world.end();
    expect([one.is, many.is, world.items]).toEqual([
      'done',
      'open',
      [
        ['a1', 'b1'],
        ['a2', 'a3'],
      ],
    ]);
    const late = outcomeOf(world.batches.submit(['c1']));
    await world.end();
    expect(world.items.at(-1)).toEqual(['a4', 'c1']);
    await world.end();
    expect([many.is, late.is, world.items.length]).toEqual(['done', 'done', 3]);
    await world.batches.submit([]);
  });

  it('calls take turns when the key is the call, however many items each has', async () => {
    const taken: (readonly string[])[] = [];
    const batches = new RotatingBatches<string>({
      batchMax: 3,
      keyOf: (_item, call) => String(call),
      work: async (items, settled) => {
        taken.push(items);
        for (const index of items.keys()) settled(index, null);
      },
    });
    await Promise.all([
      batches.submit(['a1', 'a2', 'a3', 'a4']),
      batches.submit(['b1', 'b2']),
      batches.submit(['c1']),
    ]);
    expect(taken).toEqual([['a1', 'b1', 'c1'], ['a2', 'b2', 'a3'], ['a4']]);
  });

  it('a call rejects with its first failure once all of its items are settled, and no other call does', async () => {
    const world = new Batches();
    const failing = outcomeOf(world.batches.submit(['a1', 'a2', 'a3']));
    const other = outcomeOf(world.batches.submit(['b1']));
    await round();
    await world.end((item) => (item === 'a1' ? 'first' : null));
    expect([failing.is, other.is]).toEqual(['open', 'done']);
    await world.end((item) => (item === 'a3' ? 'second' : null));
    expect(failing.is).toBe('first');
  });

  it('the next batch follows when nobody waits for the items of the one before, though they are not settled', async () => {
    const world = new Batches();
    const held = outcomeOf(world.batches.submit(['a1', 'a2']));
    const other = outcomeOf(world.batches.submit(['b1']));
    await round();
    world.handedOver[0]?.settled(1, null);
    world.handedOver[0]?.letNextFollow();
    await round();
    await world.end();
    expect([held.is, other.is]).toEqual(['open', 'done']);
    world.handedOver[0]?.settled(0, null);
    await round();
    expect(held.is).toBe('done');
  });

  it('when the database is away, what waits fails without being handed over, and later items are tried again', async () => {
    const world = new Batches();
    const away = new StorageAway(new Error('planted'));
    const all = outcomeOf(world.batches.submit(['a1', 'a2', 'a3', 'a4', 'a5']));
    await round();
    await world.end(() => away);
    expect([all.is, world.items]).toEqual([away, [['a1', 'a2']]]);
    const later = outcomeOf(world.batches.submit(['a6']));
    await round();
    await world.end();
    expect(later.is).toBe('done');
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { ReadThroughCache } from '../../src/application/read-through-cache.ts';
import { NOW } from '../support/builders.ts';

const FRESH_MS = 5_000;

describe('a read-through cache', () => {
  let clock: { at: number; now: () => number };
  let reads: string[];

  beforeEach(() => {
    clock = { at: NOW, now: () => clock.at };
    reads = [];
  });

  const cacheOf = (keeps?: (value: string) => boolean) =>
    new ReadThroughCache<string>({
      clock,
      freshMs: FRESH_MS,
      keysMax: 2,
      ...(keeps === undefined ? {} : { keeps }),
    });
  const reading = (value: string) => async () => {
    reads.push(value);
    return value;
  };

  it('a read-through cache gives a kept value until it is as old as it may be, and reads it again then', async () => {
    const cache = cacheOf();
    expect(await cache.get('key', reading('first'))).toBe('first');
    clock.at += FRESH_MS - 1;
    expect(await cache.get('key', reading('second'))).toBe('first');
    clock.at += 1;
    expect(await cache.get('key', reading('third'))).toBe('third');
    expect(reads).toEqual(['first', 'third']);
  });

  it('a read-through cache counts the age of a value from the beginning of its read', async () => {
    const cache = cacheOf();
    await cache.get('key', async () => {
      clock.at += FRESH_MS;
      return 'slow';
    });
    expect(await cache.get('key', reading('second'))).toBe('second');
  });

  it('a read-through cache reads again when the clock was set back behind the read', async () => {
    const cache = cacheOf();
    await cache.get('key', reading('first'));
    clock.at -= 1;
    expect(await cache.get('key', reading('second'))).toBe('second');
  });

  it('a read-through cache lets callers with one key share one read, and callers with another key do their own', async () => {
    const cache = cacheOf();
    const values = await Promise.all([
      cache.get('a', reading('a')),
      cache.get('a', reading('never')),
      cache.get('b', reading('b')),
    ]);
    expect(values).toEqual(['a', 'a', 'b']);
    expect(reads).toEqual(['a', 'b']);
  });

  it('a read-through cache keeps nothing of a read that failed, and tells every caller that shared it', async () => {
    const cache = cacheOf();
    const failing = async () => {
      throw new Error('away');
    };
    const results = await Promise.allSettled([cache.get('key', failing), cache.get('key', failing)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(cache.has('key')).toBe(false);
    expect(await cache.get('key', reading('there again'))).toBe('there again');
  });

  it('a read-through cache forgets a key whose newest value is not worth keeping', async () => {
    const cache = cacheOf((value) => value !== 'bad');
    await cache.get('key', reading('good'));
    expect(cache.has('key')).toBe(true);
    clock.at += FRESH_MS;
    expect(await cache.get('key', reading('bad'))).toBe('bad');
    expect(cache.has('key')).toBe(false);
    expect(await cache.get('key', reading('better'))).toBe('better');
  });

  it('a read-through cache is emptied by one key more than it may keep, and not by a key it has', async () => {
    const cache = cacheOf();
    await cache.get('a', reading('a'));
    await cache.get('b', reading('b'));
    clock.at += FRESH_MS;
    await cache.get('b', reading('b'));
    expect([cache.has('a'), cache.has('b')]).toEqual([true, true]);
    await cache.get('c', reading('c'));
    expect([cache.has('a'), cache.has('b'), cache.has('c')]).toEqual([false, false, true]);
  });

  describe('that serves stale values', () => {
    const failing = () => Promise.reject(new Error('away'));
    const staleCache = () =>
      new ReadThroughCache<string>({ clock, freshMs: FRESH_MS, keysMax: 2, servesStale: true });

    it('a read-through cache gives a kept value for as long as its read fails, and tries again when it may', async () => {
      const cache = staleCache();
      await cache.get('key', reading('first'));
      clock.at += FRESH_MS;
      expect(await cache.get('key', failing)).toBe('first');
      clock.at += FRESH_MS - 1;
      expect(await cache.get('key', reading('too early'))).toBe('first');
      clock.at += 1;
      expect(await cache.get('key', reading('second'))).toBe('first');
      expect(await cache.get('key', reading('third'))).toBe('second');
      expect(reads).toEqual(['first', 'second']);
    });

    it('a read-through cache lets nobody wait for the next read after one that failed', async () => {
      const cache = staleCache();
      await cache.get('key', reading('first'));
      clock.at += FRESH_MS;
      await cache.get('key', failing);
      clock.at += FRESH_MS;
      expect(await cache.get('key', () => new Promise(() => undefined))).toBe('first');
    });

    it('a read-through cache passes on the failure of a read without a kept value', async () => {
      await expect(staleCache().get('key', failing)).rejects.toThrow('away');
    });
  });
});

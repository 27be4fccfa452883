import { describe, expect, it } from 'vitest';
import { SharedReading } from '../../../src/adapters/prometheus/shared-reading.ts';

const SOON_MS = 1;
const LONG_MS = 60_000;

/** A source that replies when the test says so. */
function aSource() {
  const waiting: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const read = () => new Promise<number>((resolve, reject) => waiting.push({ resolve, reject }));
  return { read, waiting };
}

describe('a shared reading', () => {
  it('callers at the same time share one reading, and later ones its result', async () => {
    const { read, waiting } = aSource();
    const reading = new SharedReading({ read, freshMs: LONG_MS, timeoutMs: LONG_MS });
    const both = Promise.all([reading.get(), reading.get()]);
    expect(waiting).toHaveLength(1);
    waiting[0]?.resolve(7);
    expect(await both).toEqual([7, 7]);
    expect(await reading.get()).toBe(7);
    expect(waiting).toHaveLength(1);
  });

  it('a result that is not fresh any more is read again', async () => {
    const { read, waiting } = aSource();
    const reading = new SharedReading({ read, freshMs: 0, timeoutMs: LONG_MS });
    const first = reading.get();
    waiting[0]?.resolve(1);
    expect(await first).toBe(1);
    const second = reading.get();
    waiting[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  it('a caller does not wait for a reading that hangs, and the next caller begins no second one', async () => {
    const { read, waiting } = aSource();
    const reading = new SharedReading({ read, freshMs: LONG_MS, timeoutMs: SOON_MS });
    expect(await reading.get()).toBeNull();
    expect(await reading.get()).toBeNull();
    expect(waiting).toHaveLength(1);
  });

  it('a reading that failed gives null, and is tried again by the next caller', async () => {
    const { read, waiting } = aSource();
    const reading = new SharedReading({ read, freshMs: LONG_MS, timeoutMs: LONG_MS });
    const first = reading.get();
    waiting[0]?.reject(new Error('away'));
    expect(await first).toBeNull();
    const second = reading.get();
    waiting[1]?.resolve(3);
    expect(await second).toBe(3);
  });
});

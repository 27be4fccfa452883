import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/adapters/node/random-id-source.ts';

/** 2026-01-15T12:00:00Z, and the same in twelve hex digits. */
const NOW = 1_768_478_400_000;
const NOW_HEX = '019bc186de00';

const IDS = 100_000;

describe('RandomIdSource', () => {
  it('an id is 24 lower-case hex characters that begin with the instant', () => {
    expect(new RandomIdSource().hex24(NOW)).toMatch(new RegExp(`^${NOW_HEX}[0-9a-f]{12}$`));
  });

  it('the source gives a hundred thousand different ids for one instant', () => {
    const source = new RandomIdSource();
    const ids = new Set(Array.from({ length: IDS }, () => source.hex24(NOW)));
    expect(ids.size).toBe(IDS);
  });

  it('two sources give different ids for one instant', () => {
    expect(new RandomIdSource().hex24(NOW)).not.toBe(new RandomIdSource().hex24(NOW));
  });

  it('ids sort by time as text', () => {
    const source = new RandomIdSource();
    const instants = [0, 1, 255, 256, 65_535, 65_536, NOW - 1, NOW, NOW + 1, 2 ** 44, 2 ** 47];
    const ids = instants.map((now) => source.hex24(now));
    expect([...ids].sort()).toEqual(ids);
  });

  it('ids use every one of the random bits', () => {
    const source = new RandomIdSource();
    const seen = Array.from({ length: 12 }, () => new Set<string>());
    for (let count = 0; count < 2_000; count += 1) {
      const random = source.hex24(NOW).slice(12);
      for (const [place, digits] of seen.entries()) digits.add(random[place] ?? '');
    }
    for (const digits of seen) expect(digits.size).toBe(16);
  });
});

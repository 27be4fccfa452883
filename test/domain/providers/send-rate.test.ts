import { expect, it } from 'vitest';
import { areMostlyRejected, countedAs, sendRateAfter } from '../../../src/domain/providers/send-rate.ts';
import { rejectedAs, type SubmitResult, unknownResult } from '../../../src/domain/providers/submit-result.ts';

/** A provider that took 20 a second: from 14 the rate reaches 20 again after the third root of 20 × 0.3 / 0.4, some 2.466 s. */
const REACHED = 20;

it.each([
  [0, 14],
  // 2.466 - 1 = 1.466, to the third power 3.151, times 0.4 is 1.260.
  [1_000, 18.74],
  [2_466, 20],
  // 1 s behind it: 0.4 more.
  [3_466, 20.4],
  [7_466, 70],
  // 27.534 to the third power is 20,874, times 0.4 is 8,349.
  [30_000, 8_369.6],
])(
  'the rate of a provider that took 20 a second is, %i ms after it took no more, %d a second',
  (ms, rate) => {
    expect(Math.abs(sendRateAfter(REACHED, ms) - rate)).toBeLessThan(0.01 * rate);
  },
);

it.each([
  [0, 1, true],
  [1, 1, true],
  [20, 20, true],
  [20, 19, false],
  [1, 0, false],
])(
  'a project of which a provider took %i and rejected %i sends too much: %s',
  (taken, rejected, expected) => {
    expect(areMostlyRejected({ taken, rejected })).toBe(expected);
  },
);

it('a provider that took nothing is asked at 7 a second at first, as one that took ten', () => {
  expect([sendRateAfter(0, 0), sendRateAfter(10, 0)]).toEqual([expect.closeTo(7, 6), expect.closeTo(7, 6)]);
});

it('ten a second are of all projects that the provider throttles', () => {
  expect([sendRateAfter(0, 0, 20), sendRateAfter(10, 0, 20)]).toEqual([
    expect.closeTo(0.35, 6),
    expect.closeTo(7, 6),
  ]);
});

it.each<[string, SubmitResult, 'taken' | 'rejected' | null]>([
  ['accepts', { kind: 'accepted', providerMessageIds: [] }, 'taken'],
  ['rejects for the message', rejectedAs('message', 'no'), 'taken'],
  ['rejects with the end of the chain', rejectedAs('ends-chain', 'no'), 'taken'],
  ['throttles', rejectedAs('throttled', 'no'), 'rejected'],
  ['rejects as busy', rejectedAs('busy', 'no'), null],
  ['rejects as limited', rejectedAs('limited', 'no'), 'taken'],
  ['rejects for the sender', rejectedAs('sender', 'no'), 'taken'],
  ['leaves unknown', unknownResult('no'), null],
])('a request that the provider %s counts for the rate as it says', (_, result, counted) => {
  expect(countedAs(result)).toBe(counted);
});

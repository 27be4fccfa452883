import { beforeEach, describe, expect, it } from 'vitest';
import { SubmissionCapacity } from '../../../src/application/attempts/submission-capacity.ts';
import { type WaitingStart, WaitingStarts } from '../../../src/application/attempts/waiting-starts.ts';
import { BATCH_ITEMS_MAX } from '../../../src/application/batching/batch-queue.ts';
import type { ChannelProvider } from '../../../src/application/ports/channel-provider.ts';
import type { Backlog } from '../../../src/domain/jobs/fair-share.ts';
import {
  CLOSED_CAPACITY,
  type ProviderCapacity,
  UNLIMITED_CAPACITY,
} from '../../../src/domain/providers/provider-capacity.ts';
import { anSmsId, HOUR_MS, NOW } from '../../support/builders.ts';

const A: Backlog = { priority: 'text', projectId: 'a' };
const B: Backlog = { priority: 'text', projectId: 'b' };
const CODES_OF_C: Backlog = { priority: 'code', projectId: 'c' };
/** Of another project. */
const codesOf = (n: number): Backlog => ({ priority: 'code', projectId: `project ${n}` });
const KEY = { channel: 'sms', environment: 'live', provider: 'smsc' } as const;
const DUE_AT = NOW + 4_000;

let now: number;
let submissions: SubmissionCapacity;
let starts: WaitingStarts;
/** How often it was told that starts may be taken. */
let told: number;
/** How many more go out at once. */
let free: number;
/** How many pass those that wait, by project; '' stands for any. */
let passing: Readonly<Record<string, number>>;
/** How many wait at the provider, by project. */
let waiting: Readonly<Record<string, number>>;
let handOver: (backlog: Backlog) => void;
let provider: ChannelProvider;

beforeEach(() => {
  now = NOW;
  told = 0;
  submissions = new SubmissionCapacity({ inFlightMax: 4 });
  starts = new WaitingStarts({ submissionCapacity: submissions, clock: { now: () => now } });
  starts.whenCapacity(() => {
    told += 1;
  });
  free = 0;
  waiting = {};
  passing = {};
  provider = providerWith(({ priority, projectId }) => ({
    free,
    passing: passing[projectId] ?? 0,
    waiting: waiting[projectId] ?? 0,
    ahead: (waiting.c ?? 0) + (priority === 'code' ? 0 : (waiting.a ?? 0) + (waiting.b ?? 0)),
  }));
});

/** A provider of which only the capacity counts here. */
function providerWith(capacity: (backlog: Backlog) => ProviderCapacity, name = 'smsc') {
  return {
    name,
    capacity,
    whenHandedOver(listener: (backlog: Backlog) => void) {
      handOver = listener;
    },
  } as ChannelProvider;
}

const start = (
  name: number,
  {
    backlog = A,
    jobDueAt = DUE_AT,
    isAgain = false,
    others = [],
  }: Partial<Pick<WaitingStart, 'backlog' | 'jobDueAt' | 'isAgain' | 'others'>> = {},
): WaitingStart => ({
  smsId: anSmsId(name),
  attemptNumber: 0,
  provider,
  key: KEY,
  others,
  backlog,
  jobDueAt,
  isAgain,
});
const numbered = (count: number, backlog = A, from = 0) =>
  Array.from({ length: count }, (_, index) => start(from + index, { backlog }));
/** Of ten attempts of each backlog, how many may begin in one batch. */
const admitted = (...backlogs: readonly Backlog[]) => {
  const mayBegin = starts.newBudget();
  return backlogs.map(
    (backlog) => Array.from({ length: 10 }, () => mayBegin(provider, backlog)).filter(Boolean).length,
  );
};
const handedOver = (count: number, backlog = A) => {
  for (let index = 0; index < count; index += 1) handOver(backlog);
};
const ready = () => starts.takeReady().map(({ smsId }) => smsId);
const microtasks = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the admission of attempts', () => {
  it('of one batch as many attempts begin as go out at once, and four that wait', () => {
    free = 3;
    expect(admitted(A)).toEqual([7]);
    free = 0;
    waiting = { a: 3 };
    expect(admitted(A)).toEqual([1]);
    waiting = { a: 4 };
    expect(admitted(A)).toEqual([0]);
  });

  it('every attempt begins where none ever waits', () => {
    provider = providerWith(() => UNLIMITED_CAPACITY);
    expect(admitted(A)).toEqual([10]);
  });

  it('backlogs share what goes out at once, and each may have four that wait besides', () => {
    free = 3;
    waiting = { b: 2 };
    expect(admitted(A, B)).toEqual([7, 2]);
  });

  it('while too many wait of projects with their share in flight, those of another pass them, also behind starts that wait', () => {
    waiting = { a: 20, c: 20 };
    passing = { b: 2, '': 10 };
    expect(admitted(A, CODES_OF_C, B)).toEqual([0, 0, 2]);
    starts.add([start(1), start(2, { backlog: CODES_OF_C })]);
    expect(admitted(A, CODES_OF_C, B)).toEqual([0, 0, 2]);
    expect([A, CODES_OF_C, B].map((each) => starts.hasCapacity(provider, each))).toEqual([
      false,
      false,
      true,
    ]);
    starts.add([start(3, { backlog: B })]);
    expect(admitted(B)).toEqual([1]);
    expect(ready()).toEqual([anSmsId(3)]);
  });

  it('as many may wait as a quarter of what the provider took in the last second', () => {
    waiting = { a: 4, b: 4 };
    expect(admitted(A, B)).toEqual([0, 0]);
    handedOver(35);
    expect(admitted(A, B)).toEqual([5, 0]);
    now += 2_000;
    expect(admitted(A)).toEqual([0]);
  });

  it('codes of all projects together have the places of a quarter of the texts that the provider took', () => {
    waiting = { a: 4, b: 4, c: 4 };
    expect(admitted(A, B, CODES_OF_C)).toEqual([0, 0, 0]);
    handedOver(20, A);
    handedOver(12, B);
    handedOver(8, CODES_OF_C);
    expect(admitted(A, B, CODES_OF_C)).toEqual([1, 0, 4]);
    expect(admitted(CODES_OF_C, { priority: 'code', projectId: 'd' })).toEqual([4, 4]);
    waiting = {};
    expect(admitted(...Array.from({ length: 5 }, (_, n) => codesOf(n)))).toEqual([8, 4, 4, 4, 4]);
  });

  it('of all projects together no more wait than the provider took in the last second, or 32', () => {
    const many = Array.from({ length: 12 }, (_, n) => codesOf(n));
    expect(admitted(...many)).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0, 0]);
    for (const backlog of many) handedOver(3, backlog);
    expect(admitted(...many)).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0]);
    starts.add(numbered(30, codesOf(20)));
    expect(admitted(...many)).toEqual([4, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('texts that have waited have no capacity while codes wait, and codes have although texts do', () => {
    free = 1;
    waiting = { c: 4 };
    expect([A, CODES_OF_C].map((backlog) => starts.hasCapacity(provider, backlog))).toEqual([true, true]);
    starts.add([start(0, { backlog: CODES_OF_C }), start(1, { backlog: A })]);
    expect([A, B, CODES_OF_C].map((backlog) => starts.hasCapacity(provider, backlog))).toEqual([
      false,
      false,
      true,
    ]);
    expect(ready()).toEqual([0, 1].map(anSmsId));
    expect(starts.hasCapacity(provider, A)).toBe(true);
  });

  it('what waits already goes before an attempt', () => {
    free = 3;
    starts.add(numbered(2));
    expect(admitted(A)).toEqual([3]);
    expect(admitted(B)).toEqual([5]);
    starts.add(numbered(8, A, 2));
    expect([admitted(A), starts.hasCapacity(provider, A)]).toEqual([[0], true]);
    expect(ready()).toHaveLength(7);
    expect(admitted(A, B)).toEqual([1, 4]);
  });
});

describe('the starts that wait', () => {
  it('starts begin in order as something is handed over, and not again', async () => {
    waiting = { a: 2 };
    starts.add(numbered(3));
    expect(ready()).toEqual([anSmsId(0), anSmsId(1)]);
    waiting = { a: 4 };
    await microtasks();
    const before = told;
    handedOver(1);
    expect(told).toBe(before);
    await microtasks();
    expect([told, ready()]).toEqual([before + 1, []]);
    waiting = { a: 3 };
    handedOver(1);
    expect([ready(), ready()]).toEqual([[anSmsId(2)], []]);
  });

  it('what is handed over of one project lets the starts of all begin, the most urgent first and then in rotation', () => {
    waiting = { a: 4, b: 4, c: 4 };
    starts.add([...numbered(3, A, 10), ...numbered(3, B, 20), ...numbered(2, CODES_OF_C, 30)]);
    expect(ready()).toEqual([]);
    free = 5;
    handedOver(1, A);
    expect(ready()).toEqual([30, 31, 10, 20, 11].map(anSmsId));
  });

  it('starts begin when a submission has its result', async () => {
    waiting = { a: 4 };
    starts.add([start(0)]);
    await microtasks();
    expect(ready()).toEqual([]);
    free = 1;
    const before = told;
    starts.mayHaveCapacity(provider);
    await microtasks();
    expect([told, ready()]).toEqual([before + 1, [anSmsId(0)]]);
  });

  it('nobody is told of a provider for which nothing waits', async () => {
    waiting = { a: 4 };
    starts.add([start(0)]);
    await microtasks();
    const before = told;
    starts.mayHaveCapacity(providerWith(provider.capacity, 'another'));
    await microtasks();
    free = 1;
    starts.mayHaveCapacity(provider);
    expect(ready()).toEqual([anSmsId(0)]);
    handedOver(1);
    starts.mayHaveCapacity(provider);
    await microtasks();
    expect(told).toBe(before + 1);
  });

  it('starts that were added when all before them had ended are told at once', async () => {
    free = 1;
    starts.add([start(0)]);
    await microtasks();
    expect([told, ready()]).toEqual([1, [anSmsId(0)]]);
  });

  it('starts whose jobs are due are left to their jobs, also behind one of before the clock was put back', () => {
    free = 9;
    starts.add([start(0, { jobDueAt: NOW + 1 }), start(1)]);
    now += 1;
    expect(ready()).toEqual([anSmsId(1)]);
    free = 0;
    waiting = { a: 4 };
    starts.add([start(2)]);
    now -= HOUR_MS;
    starts.add([start(3, { jobDueAt: now + 4_000 })]);
    now += 4_000;
    free = 9;
    expect(ready()).toEqual([anSmsId(2)]);
  });

  it('no more starts are taken at once than fit into one transaction', () => {
    free = 1_000;
    starts.add(numbered(BATCH_ITEMS_MAX + 1));
    expect([ready().length, ready().length, ready().length]).toEqual([BATCH_ITEMS_MAX, 1, 0]);
  });

  it('a start counts as in flight while it waits, until it is taken or its job is due', () => {
    const isFull = () => submissions.retryAt(KEY, A, now) !== null;
    waiting = { a: 3 };
    starts.add([...numbered(3), start(3, { jobDueAt: DUE_AT - 1 })]);
    expect(isFull()).toBe(true);
    expect(ready()).toEqual([anSmsId(0)]);
    expect(isFull()).toBe(false);
    starts.add([start(4)]);
    expect(isFull()).toBe(true);
    now = DUE_AT;
    starts.newBudget();
    expect(isFull()).toBe(false);
  });

  it('a start that has waited before goes before those of its backlog that have not', () => {
    starts.add([start(1), start(2, { isAgain: true }), start(3, { isAgain: true })]);
    free = 10;
    expect(ready()).toEqual([anSmsId(2), anSmsId(3), anSmsId(1)]);
  });

  it('of several providers the soonest is the one with the shorter wait: what waits, by what it handed over lately', () => {
    const full = () => ({ free: 0, passing: 0, waiting: 9, ahead: 9 });
    const first = providerWith(full, 'first');
    provider = first;
    starts.add(numbered(3));
    const handOverOfFirst = handOver;
    const second = providerWith(full, 'second');
    const soonest = () => starts.soonest(first, [second]).name;
    expect(soonest()).toBe('second');
    for (let count = 0; count < 5; count += 1) handOverOfFirst(A);
    expect(soonest()).toBe('first');
    expect(starts.soonest(first, [])).toBe(first);
  });

  it('starts go to another provider with capacity while theirs throttles their project, and those of others stay', () => {
    const other = providerWith(() => ({ free: 2, passing: 0, waiting: 9, ahead: 9 }), 'other');
    provider = providerWith(({ projectId }) => ({
      free: 0,
      passing: 0,
      waiting: 9,
      ahead: 9,
      ...(projectId === 'a' ? { ofRate: 0 } : {}),
    }));
    const ofA = [1, 2, 3].map((name) => start(name, { others: [other] }));
    starts.add([...ofA, start(4, { backlog: B, others: [other] })]);
    expect(ready()).toEqual([anSmsId(1), anSmsId(2)]);
  });

  it('starts of a project that is throttled go to no provider that rejects everything of it', () => {
    const other = providerWith(() => CLOSED_CAPACITY, 'other');
    provider = providerWith(() => ({ free: 0, passing: 0, waiting: 9, ahead: 9, ofRate: 0 }));
    starts.add([1, 2].map((name) => start(name, { others: [other] })));
    expect(ready()).toEqual([]);
  });

  it.each([
    ['first', true],
    ['last', false],
  ])(
    'starts of a project that is throttled take no place of those that wait for the other provider, when theirs is checked %s',
    (_, isFirst) => {
      let places = 0;
      const other = providerWith(() => ({ free: places, passing: 0, waiting: 9, ahead: 9 }), 'other');
      const throttling = providerWith(() => ({ free: 0, passing: 0, waiting: 9, ahead: 9, ofRate: 0 }));
      provider = throttling;
      starts.add([1, 2].map((name) => start(name, { others: [other] })));
      provider = other;
      starts.add([3, 4].map((name) => start(name, { backlog: CODES_OF_C })));
      expect(ready()).toEqual([]);
      places = 3;
      for (const each of isFirst ? [throttling, other] : [other, throttling]) starts.mayHaveCapacity(each);
      expect(ready().toSorted()).toEqual([anSmsId(1), anSmsId(3), anSmsId(4)]);
    },
  );

  it('starts of a project that is throttled wait for its rate, though their provider has places', () => {
    let ofRate = 0;
    provider = providerWith(() => ({ free: 9, passing: 0, waiting: 4, ahead: 4, ofRate }));
    starts.add(numbered(3));
    expect(ready()).toEqual([]);
    ofRate = 2;
    starts.mayHaveCapacity(provider);
    expect(ready()).toEqual([anSmsId(0), anSmsId(1)]);
  });
});

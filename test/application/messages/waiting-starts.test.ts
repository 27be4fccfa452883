import { beforeEach, describe, expect, it } from 'vitest';
import { SubmissionCapacity } from '../../../src/application/messages/submission-capacity.ts';
import {
  WAITING_STARTS_BATCH_MAX,
  type WaitingStart,
  WaitingStarts,
} from '../../../src/application/messages/waiting-starts.ts';
import type { ChannelProvider } from '../../../src/application/ports/channel-provider.ts';
import type { Backlog } from '../../../src/domain/jobs/fair-share.ts';
import { UNLIMITED_CAPACITY } from '../../../src/domain/messages/submission-share.ts';
import { anSmsId, NOW } from '../../support/builders.ts';

const A: Backlog = { priority: 'code', projectId: 'a' };
const B: Backlog = { priority: 'code', projectId: 'b' };
const KEY = { channel: 'sms', environment: 'live', provider: 'smsc' } as const;
const DUE_AT = NOW + 4_000;

let now: number;
let capacity: SubmissionCapacity;
let starts: WaitingStarts;
/** How often it was told that starts may be taken. */
let told: number;

beforeEach(() => {
  now = NOW;
  told = 0;
  capacity = new SubmissionCapacity({ inFlightMax: 4 });
  starts = new WaitingStarts({ submissionCapacity: capacity, clock: { now: () => now } });
  starts.whenCapacity(() => {
    told += 1;
  });
});

/** A provider of which only the capacity counts here, by project. */
const providerWith = (capacity: ChannelProvider['capacity'], name = 'smsc') =>
  ({ name, capacity }) as ChannelProvider;
const full = (waiting = 4) => providerWith(() => ({ free: 0, waiting }));
const free = (count: number) => providerWith(() => ({ free: count, waiting: 4 }));
const start = (
  number: number,
  provider: ChannelProvider,
  { backlog = A, jobDueAt = DUE_AT }: { readonly backlog?: Backlog; readonly jobDueAt?: number } = {},
): WaitingStart => ({ smsId: anSmsId(number), attemptNumber: 0, provider, key: KEY, backlog, jobDueAt });
const numbered = (count: number, provider: ChannelProvider) =>
  Array.from({ length: count }, (_, index) => start(index, provider));
/** How many of ten attempts may begin in one batch. */
const admitted = (provider: ChannelProvider, backlog = A) => {
  const mayBegin = starts.admission();
  return Array.from({ length: 10 }, () => mayBegin(provider, backlog)).filter(Boolean).length;
};
const taken = (count: number, provider: ChannelProvider, backlog = A) => {
  for (let index = 0; index < count; index += 1) starts.settled(provider, backlog, true);
};
const ready = () => starts.takeReady().map(({ smsId }) => smsId);
const microtasks = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the admission of attempts', () => {
  it('of one batch as many attempts begin as go out at once, and four that wait', () => {
    expect(admitted(providerWith(() => ({ free: 3, waiting: 0 })))).toBe(7);
    expect(admitted(providerWith(() => ({ free: 0, waiting: 3 })))).toBe(1);
    expect(admitted(full())).toBe(0);
    expect(admitted(providerWith(() => UNLIMITED_CAPACITY))).toBe(10);
  });

  it('of each backlog as many attempts begin, whatever others have waiting', () => {
    const provider = providerWith(({ projectId }) => ({ free: 0, waiting: projectId === 'a' ? 4 : 0 }));
    expect([admitted(provider, A), admitted(provider, B)]).toEqual([0, 4]);
  });

  it('as many wait as the provider took in a quarter of the last second', () => {
    const provider = full();
    taken(35, provider);
    expect([admitted(provider), admitted(provider, B)]).toEqual([5, 0]);
    now += 1_000;
    taken(2, provider);
    expect(admitted(provider)).toBe(5);
    now += 1_000;
    expect(admitted(provider)).toBe(0);
    taken(35, provider);
    now += 2_000;
    expect(admitted(provider)).toBe(0);
  });

  it('what the provider may take later counts as not taken', () => {
    const provider = full();
    for (let index = 0; index < 35; index += 1) starts.settled(provider, A, false);
    expect(admitted(provider)).toBe(0);
  });
});

describe('the starts that wait', () => {
  it('starts are taken in order when there is capacity, and not again', async () => {
    const provider = free(2);
    starts.add(numbered(3, provider));
    expect(ready()).toEqual([anSmsId(0), anSmsId(1)]);
    await microtasks();
    const before = told;
    starts.settled(provider, A, true);
    expect(told).toBe(before);
    await microtasks();
    expect(told).toBe(before + 1);
    expect(ready()).toEqual([anSmsId(2)]);
    expect(ready()).toEqual([]);
  });

  it('nobody is told of a submission whose backlog has nothing waiting', async () => {
    const provider = full();
    starts.add([start(0, provider)]);
    await microtasks();
    const before = told;
    starts.settled(provider, B, true);
    starts.settled(providerWith(provider.capacity, 'another'), A, true);
    await microtasks();
    expect(told).toBe(before);
  });

  it('starts that were added when all before them had ended are told at once', async () => {
    starts.add([start(0, free(1))]);
    await microtasks();
    expect(told).toBe(1);
    expect(ready()).toEqual([anSmsId(0)]);
  });

  it('starts whose jobs are due are left to their jobs', () => {
    const provider = free(9);
    starts.add([start(0, provider, { jobDueAt: NOW + 1 }), start(1, provider)]);
    now += 1;
    expect(ready()).toEqual([anSmsId(1)]);
  });

  it('no more starts are taken at once than fit into one transaction', () => {
    const provider = free(1_000);
    starts.add(numbered(WAITING_STARTS_BATCH_MAX + 1, provider));
    expect([ready().length, ready().length, ready().length]).toEqual([WAITING_STARTS_BATCH_MAX, 1, 0]);
  });

  it('a start counts as in flight while it waits, until it is taken or its job is due', () => {
    const isFull = () => capacity.retryAt(KEY, A, now) !== null;
    const provider = providerWith(() => ({ free: 0, waiting: 3 }));
    starts.add([...numbered(3, provider), start(3, full(), { jobDueAt: DUE_AT + 1 })]);
    expect(isFull()).toBe(true);
    expect(ready()).toEqual([anSmsId(0)]);
    expect(isFull()).toBe(false);
    starts.add([start(4, provider, { jobDueAt: DUE_AT + 1 })]);
    expect(isFull()).toBe(true);
    now = DUE_AT;
    starts.admission();
    expect(isFull()).toBe(false);
  });
});

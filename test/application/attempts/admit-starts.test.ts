import { beforeEach, describe, expect, it } from 'vitest';
import {
  AdmitStarts,
  type AttemptStart,
  LOCKED_RETRY_MS,
} from '../../../src/application/attempts/admit-starts.ts';
import { CampaignLimits } from '../../../src/application/attempts/campaign-limits.ts';
import {
  CAPACITY_RETRY_MS,
  SubmissionCapacity,
} from '../../../src/application/attempts/submission-capacity.ts';
import { START_WAIT_MS, WaitingStarts } from '../../../src/application/attempts/waiting-starts.ts';
import type { ChannelProvider } from '../../../src/application/ports/channel-provider.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import {
  CLOSED_CAPACITY,
  type ProviderCapacity,
  UNLIMITED_CAPACITY,
} from '../../../src/domain/providers/provider-capacity.ts';
import { WAITING_MIN } from '../../../src/domain/providers/waiting-limits.ts';
import { aMessage, anAttempt, anSmsId, aProject, NOW, PROJECT_ID } from '../../support/builders.ts';

const IN_FLIGHT_MAX = 2;
const FULL: ProviderCapacity = { free: 0, passing: 0, waiting: WAITING_MIN, ahead: WAITING_MIN };
const KEY = { channel: 'sms', environment: 'live', provider: 'first' } as const;
const BACKLOG = { priority: 'code', projectId: PROJECT_ID } as const;
/** Without campaigns, and with their limits off, nothing is read. */
const NOTHING_STORED = {} as Stores;

let capacities: Record<string, ProviderCapacity>;
let route: readonly string[];
/** The providers whose circuit is open. */
let open: readonly string[];
let submissionCapacity: SubmissionCapacity;
let isLocked: boolean;

beforeEach(() => {
  capacities = { first: UNLIMITED_CAPACITY, second: UNLIMITED_CAPACITY };
  route = ['first'];
  open = [];
  submissionCapacity = new SubmissionCapacity({ inFlightMax: IN_FLIGHT_MAX });
  isLocked = false;
});

/** Of a provider only its name and its capacity count here. */
const providerNamed = (name: string) =>
  ({
    name,
    capacity: () => (open.includes(name) ? CLOSED_CAPACITY : capacities[name]),
    whenHandedOver() {},
  }) as unknown as ChannelProvider;

const starting = (given: Partial<AttemptStart> = {}): AttemptStart => ({
  message: aMessage({ attempts: [], channels: ['sms'] }),
  attemptNumber: 0,
  isReady: false,
  hasWaited: false,
  ...given,
});

/** When the message of `anSmsId()` starts; undefined when it starts now. */
async function postponed(start = starting(), projects = [aProject()]) {
  const clock = { now: () => NOW };
  const admitStarts = new AdmitStarts({
    channelProviders: { route: () => route.map(providerNamed) },
    submissionCapacity,
    waitingStarts: new WaitingStarts({ submissionCapacity, clock }),
    campaignLimits: new CampaignLimits({ keepsPlatformLimits: false }),
  });
  const found = await admitStarts.execute(NOTHING_STORED, [start], {
    projects: new Map(projects.map((project) => [project.id, project])),
    isLocked: () => isLocked,
    now: NOW,
  });
  return found.get(anSmsId());
}

describe('when an attempt starts', () => {
  it('an attempt starts at once when its provider has capacity', async () => {
    expect(await postponed()).toBeUndefined();
    capacities = { first: { free: 1, passing: 0, waiting: 0, ahead: 0 } };
    expect(await postponed()).toBeUndefined();
  });

  it('an attempt waits for a provider without capacity, four seconds at most', async () => {
    capacities = { first: FULL };
    expect(await postponed()).toMatchObject({
      at: NOW + START_WAIT_MS,
      hasWaited: true,
      waiting: { smsId: anSmsId(), attemptNumber: 0, key: KEY, backlog: BACKLOG, jobDueAt: NOW + 4_000 },
    });
  });

  it('an attempt that has waited starts although its provider has no capacity', async () => {
    capacities = { first: FULL };
    expect(await postponed(starting({ hasWaited: true }))).toBeUndefined();
  });

  describe('an attempt that was busy, and has no other channel', () => {
    const busy = anAttempt({ channel: 'sms', state: 'busy', startedAt: NOW - 20_000 });
    const message = aMessage({ attempts: [busy], channels: ['sms'], attemptTimeoutMs: 30_000 });
    const again = starting({ message, hasWaited: true });

    it('a busy attempt waits again when it has waited, while there is time to try it', async () => {
      capacities = { first: FULL };
      expect(await postponed(again)).toMatchObject({ at: NOW + 4_000, waiting: { jobDueAt: NOW + 4_000 } });
      expect(
        await postponed({ ...again, message: { ...message, attemptTimeoutMs: 22_000 } }),
      ).toBeUndefined();
      capacities = { first: UNLIMITED_CAPACITY };
      expect(await postponed(again)).toBeUndefined();
    });

    it('a busy attempt starts as soon as one provider of its route has capacity', async () => {
      route = ['first', 'second'];
      capacities = { first: FULL, second: { free: 1, passing: 0, waiting: 0, ahead: 0 } };
      expect(await postponed(again)).toBeUndefined();
      expect(await postponed({ ...again, hasWaited: false })).toBeUndefined();
      capacities = { first: FULL, second: FULL };
      expect((await postponed(again))?.waiting?.provider.name).toBe('first');
    });

    it('a busy attempt does not wait for a provider whose circuit is open, and starts when all are', async () => {
      route = ['first', 'second'];
      capacities = { first: FULL, second: FULL };
      open = ['first'];
      expect((await postponed(again))?.waiting).toMatchObject({
        provider: { name: 'second' },
        key: { provider: 'second' },
      });
      capacities = { first: UNLIMITED_CAPACITY, second: FULL };
      expect((await postponed(again))?.waiting?.provider.name).toBe('second');
      open = ['first', 'second'];
      expect(await postponed(again)).toBeUndefined();
    });
  });

  it('a busy attempt goes to an idle provider beside one that is at its limit, and is put off when all are', async () => {
    const busy = anAttempt({ channel: 'sms', state: 'busy', startedAt: NOW - 20_000 });
    const message = aMessage({ attempts: [busy], channels: ['sms'], attemptTimeoutMs: 30_000 });
    route = ['first', 'second'];
    for (let count = 0; count < IN_FLIGHT_MAX; count += 1) submissionCapacity.begin(KEY, BACKLOG);
    capacities = { first: UNLIMITED_CAPACITY, second: FULL };
    expect((await postponed(starting({ message })))?.waiting?.provider.name).toBe('second');
    capacities = { first: UNLIMITED_CAPACITY, second: UNLIMITED_CAPACITY };
    expect(await postponed(starting({ message }))).toBeUndefined();
    const ofSecond = { ...KEY, provider: 'second' };
    for (let count = 0; count < IN_FLIGHT_MAX; count += 1) submissionCapacity.begin(ofSecond, BACKLOG);
    expect(await postponed(starting({ message }))).toEqual({ at: expect.any(Number), hasWaited: false });
  });

  it('an attempt whose provider has got capacity starts at once, whatever waits there', async () => {
    capacities = { first: FULL };
    const busy = anAttempt({ channel: 'sms', state: 'busy', startedAt: NOW - 20_000 });
    const message = aMessage({ attempts: [busy], channels: ['sms'], attemptTimeoutMs: 30_000 });
    expect(await postponed(starting({ message, isReady: true }))).toBeUndefined();
  });

  it('an attempt waits for the first provider of its route also when the second has capacity', async () => {
    route = ['first', 'second'];
    capacities = { first: FULL, second: UNLIMITED_CAPACITY };
    expect((await postponed())?.waiting?.provider.name).toBe('first');
    capacities = { first: UNLIMITED_CAPACITY, second: FULL };
    expect(await postponed()).toBeUndefined();
  });

  it('an attempt goes to the next provider with capacity while the first one throttles its project', async () => {
    route = ['first', 'second'];
    capacities = { first: { ...FULL, ofRate: 0 }, second: UNLIMITED_CAPACITY };
    expect(await postponed()).toBeUndefined();
    capacities = { first: { ...FULL, ofRate: 0 }, second: FULL };
    expect((await postponed())?.waiting).toMatchObject({ provider: { name: 'first' }, isAgain: false });
    open = ['second'];
    capacities = { first: { ...FULL, ofRate: 0 }, second: UNLIMITED_CAPACITY };
    expect((await postponed())?.waiting?.provider.name).toBe('first');
  });

  it('a later attempt of a message waits for the provider of its own channel', async () => {
    capacities = { first: FULL };
    const message = aMessage({ attempts: [anAttempt()], channels: ['whatsapp', 'sms'] });
    expect((await postponed(starting({ message, attemptNumber: 1 })))?.waiting).toMatchObject({
      attemptNumber: 1,
      key: KEY,
    });
  });

  it('an attempt whose provider is at its limit starts a second later, and does not wait in memory', async () => {
    for (let count = 0; count < IN_FLIGHT_MAX; count += 1) submissionCapacity.begin(KEY, BACKLOG);
    expect(await postponed()).toEqual({ at: NOW + CAPACITY_RETRY_MS, hasWaited: false });
    expect(await postponed(starting({ hasWaited: true }))).toBeUndefined();
  });

  it.each([
    ['has not waited', {}, false],
    ['has waited', { hasWaited: true }, true],
    ['waited until there was capacity', { isReady: true }, true],
  ])(
    'an attempt of a locked project that %s for its provider starts a second later, and the job says so',
    async (_, given, hasWaited) => {
      isLocked = true;
      expect(await postponed(starting(given))).toEqual({ at: NOW + LOCKED_RETRY_MS, hasWaited });
    },
  );

  it('an attempt starts at once, to be rejected, when its route is empty or its project is gone', async () => {
    capacities = { first: FULL };
    expect(await postponed(starting(), [])).toBeUndefined();
    route = [];
    expect(await postponed()).toBeUndefined();
  });
});

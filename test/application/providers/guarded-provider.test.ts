import { beforeEach, describe, expect, it } from 'vitest';
import type { ChannelProvider } from '../../../src/application/ports/channel-provider.ts';
import type { ProviderEvent, ProviderEventSink } from '../../../src/application/ports/provider-events.ts';
import { GuardedProvider } from '../../../src/application/providers/guarded-provider.ts';
import { withPrefixedIds } from '../../../src/application/providers/provider-ids.ts';
import type { Backlog } from '../../../src/domain/jobs/fair-share.ts';
import { CLOSED_CAPACITY } from '../../../src/domain/providers/provider-capacity.ts';
import { PROVIDER_OPEN_WINDOWS_MS } from '../../../src/domain/providers/provider-circuit.ts';
import { rejectedAs, type SubmitResult } from '../../../src/domain/providers/submit-result.ts';
import { anSmsId, aPhoneNumber, aSubmission, NOW, PROJECT_ID, SECOND_MS } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { submitAll } from '../../support/submit-all.ts';

const ACCEPTED: SubmitResult = { kind: 'accepted', providerMessageIds: ['17', '18'] };
const UNKNOWN = { kind: 'unknown', reason: 'No response', providerMessageIds: ['19'] } as const;
const THROTTLED = { kind: 'rejected', reason: 'Throttled', endsChain: false, cause: 'throttled' } as const;
const BUSY = { kind: 'rejected', reason: 'Throttled', endsChain: false, cause: 'busy' } as const;
const LIMITED: SubmitResult = {
  kind: 'rejected',
  reason: 'Too many to this number',
  endsChain: false,
  cause: 'limited',
};
const UNSENT: SubmitResult = {
  ...BUSY,
  reason: 'More messages wait than the provider takes',
  cause: 'limited',
};
const REJECTED: SubmitResult = { kind: 'rejected', reason: 'No such number', endsChain: false };

let now: number;
let calls: number;
/** What the provider says to the next message. */
let nextResult: () => SubmitResult;
let revoked: (readonly string[])[];
let sink: ProviderEventSink | null;
let logger: RecordingLogger;
let guarded: ChannelProvider;

beforeEach(() => {
  now = NOW;
  calls = 0;
  revoked = [];
  sink = null;
  logger = new RecordingLogger();
  nextResult = () => ACCEPTED;
  const provider: ChannelProvider = {
    name: 'smsc',
    async start(given) {
      sink = given;
    },
    async submit() {
      calls += 1;
      return nextResult();
    },
    async revoke(ids) {
      revoked.push(ids);
    },
    whenHandedOver: (listener) => listener({ priority: 'code', projectId: 'told' }),
    capacity: ({ projectId }) => ({ free: 0, passing: 0, waiting: projectId.length, ahead: 40 }),
    health: () => ({ ok: true, detail: 'bound' }),
    check: async () => ({ ok: true, detail: 'welcome' }),
    async close() {},
  };
  guarded = withPrefixedIds(new GuardedProvider({ provider, clock: { now: () => now }, logger }));
});

/** Submits messages at once. */
const submit = (count: number) =>
  submitAll(
    guarded,
    Array.from({ length: count }, (_, index) => aSubmission({ smsId: anSmsId(index) })),
  );
const of = (projectId: string) => guarded.submit(aSubmission({ projectId }));
const together = (projectId: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => of(projectId)));
/** Of which projects the log says that circuits opened; undefined for all. */
const openedOf = () =>
  logger.entries
    .filter(({ event }) => event === 'provider_circuit_opened')
    .map(({ fields }) => fields?.projectId);
const kindsOf = (results: readonly SubmitResult[]) =>
  results.map((result) => (result.kind === 'rejected' ? (result.cause ?? result.kind) : result.kind));

describe('the names of a guarded provider', () => {
  it('the ids of a guarded provider begin with its name, in results, in receipts and in late acceptances', async () => {
    const results = [ACCEPTED, UNKNOWN, REJECTED];
    nextResult = () => results.shift() ?? BUSY;
    expect(await submit(3)).toEqual([
      { kind: 'accepted', providerMessageIds: ['smsc:17', 'smsc:18'] },
      { kind: 'unknown', reason: 'No response', providerMessageIds: ['smsc:19'] },
      REJECTED,
    ]);
    const events: ProviderEvent[] = [];
    await guarded.start(async (given) => {
      events.push(...given);
    });
    const receipt = { channel: 'sms', providerMessageId: '17', receipt: { kind: 'delivered' } } as const;
    const attempt = { smsId: anSmsId(), attemptNumber: 0, channel: 'sms' } as const;
    const acceptance = { ...attempt, providerMessageIds: ['20', '21'] };
    await sink?.([
      { kind: 'receipt', receipt },
      { kind: 'accepted', acceptance },
    ]);
    expect(events).toEqual([
      { kind: 'receipt', receipt: { ...receipt, providerMessageId: 'smsc:17' } },
      { kind: 'accepted', acceptance: { ...attempt, providerMessageIds: ['smsc:20', 'smsc:21'] } },
    ]);
  });

  it('a guarded provider takes back its own messages only', async () => {
    await guarded.revoke?.(['smsc:17', 'other:18', 'smsc:19']);
    await guarded.revoke?.(['other:18']);
    expect(revoked).toEqual([['17', '19']]);
  });
});

describe('the capacity of a guarded provider', () => {
  it('what its provider hands over is told', () => {
    const told: Backlog[] = [];
    guarded.whenHandedOver((backlog) => told.push(backlog));
    expect(told).toEqual([{ priority: 'code', projectId: 'told' }]);
  });

  it('the capacity is that of its provider, and without limit while the provider is not called', async () => {
    const backlog = { priority: 'code', projectId: PROJECT_ID } as const;
    const waiting = PROJECT_ID.length;
    expect(guarded.capacity(backlog)).toEqual({ free: 0, passing: 0, waiting, ahead: 40 });
    nextResult = () => BUSY;
    await submit(10);
    expect(guarded.capacity(backlog)).toEqual(CLOSED_CAPACITY);
    now += PROVIDER_OPEN_WINDOWS_MS[0] ?? 0;
    expect(guarded.capacity(backlog)).toEqual({ free: 0, passing: 0, waiting, ahead: 40 });
  });
});

describe('the circuit of a guarded provider', () => {
  it.each([
    ['gives no clear result', UNKNOWN],
    ['takes nothing', BUSY],
  ])('a provider that %s ten times in a row is not called for a second', async (_, result) => {
    nextResult = () => result;
    await submit(9);
    expect(guarded.health()).toEqual({ ok: true, detail: 'bound' });
    await submit(1);
    expect(calls).toBe(10);
    const notCalled = await submit(2);
    expect(calls).toBe(10);
    expect(notCalled).toEqual(
      Array.from({ length: 2 }, () => ({
        kind: 'rejected',
        reason: `smsc failed too often, and is not called for now: ${result.reason}`,
        endsChain: false,
        cause: 'busy',
      })),
    );
    expect(guarded.health()).toEqual({ ok: false, detail: 'circuit open; bound', circuit: 'open' });
    expect(logger.entries).toEqual([
      {
        level: 'warn',
        event: 'provider_circuit_opened',
        fields: {
          provider: 'smsc',
          projectId: aSubmission().projectId,
          count: 1,
          until: new Date(NOW + SECOND_MS).toISOString(),
          reason: result.reason,
        },
      },
    ]);
    now += SECOND_MS;
    await submit(1);
    expect(calls).toBe(11);
  });

  it('a provider that throttles stays closed to nobody: the rate of the project follows it', async () => {
    nextResult = () => THROTTLED;
    await submit(100);
    expect(calls).toBe(100);
    expect(guarded.health()).toEqual({ ok: true, detail: 'bound' });
  });

  it('a provider that throttles everything for five seconds is away, unless it took something or was not asked meanwhile', async () => {
    const throttleAt = async (ms: number): Promise<void> => {
      now = NOW + ms;
      nextResult = () => THROTTLED;
      await submit(20);
    };
    for (const ms of [0, 4_000, 4_999]) await throttleAt(ms);
    expect(calls).toBe(60);
    nextResult = () => ACCEPTED;
    await submit(1);
    for (const ms of [5_001, 10_000]) await throttleAt(ms);
    expect(calls).toBe(101);
    // Five seconds later it begins anew.
    for (const ms of [15_000, 19_999]) await throttleAt(ms);
    expect(calls).toBe(141);
    await throttleAt(20_000);
    expect(calls).toBe(161);
    // More than ten in a row have opened the circuit.
    expect(kindsOf(await submit(2))).toEqual(['busy', 'busy']);
    expect(calls).toBe(161);
    // A probe that is throttled opens it again, for longer each time: no other message is sent.
    for (const openMs of PROVIDER_OPEN_WINDOWS_MS.slice(0, 3)) {
      now += openMs;
      await submit(1);
      expect(kindsOf(await submit(2))).toEqual(['busy', 'busy']);
    }
    expect(calls).toBe(164);
    now += PROVIDER_OPEN_WINDOWS_MS[3] ?? 0;
    nextResult = () => ACCEPTED;
    expect(kindsOf(await submit(1))).toEqual(['accepted']);
    nextResult = () => THROTTLED;
    await submit(20);
    expect(kindsOf(await submit(1))).toEqual(['throttled']);
  });

  it('a project is told why the provider failed for its own messages, never for those of others', async () => {
    nextResult = () => BUSY;
    await together('a', 10);
    await together('b', 5);
    const reasons = async (projectId: string) =>
      (await together(projectId, 2)).flatMap((result) => (result.kind === 'rejected' ? [result.reason] : []));
    const words = 'smsc failed too often, and is not called for now';
    expect(await reasons('a')).toEqual([`${words}: Throttled`, `${words}: Throttled`]);
    // Its first message is tried.
    expect(await reasons('c')).toEqual(['Throttled', words]);
  });

  it('what a provider says of a message is in no reason of its circuit', async () => {
    const { phoneNumber } = aSubmission();
    nextResult = () => ({ ...BUSY, reason: `Meta error 4: too many to ${phoneNumber}: spam` });
    expect(await submit(1)).toMatchObject([{ reason: 'Meta error 4: too many to ***: spam' }]);
    await submit(9);
    expect(await submit(1)).toMatchObject([
      { reason: 'smsc failed too often, and is not called for now: Meta error 4' },
    ]);
    expect(logger.entries.at(-1)?.fields?.reason).toBe('Meta error 4');
  });

  it('a provider that fails with seven of ten messages is not called, although some came through', async () => {
    await submit(3);
    nextResult = () => UNKNOWN;
    await submit(6);
    expect(guarded.health().ok).toBe(true);
    await submit(1);
    expect(guarded.health().ok).toBe(false);
  });

  it('a provider that rejects messages does its work', async () => {
    nextResult = () => REJECTED;
    await submit(100);
    expect(guarded.health().ok).toBe(true);
  });

  it('a limit of one sender or recipient is no failure of the provider', async () => {
    nextResult = () => LIMITED;
    await submit(100);
    expect(guarded.health().ok).toBe(true);
    nextResult = () => UNKNOWN;
    await submit(9);
    nextResult = () => LIMITED;
    await submit(1);
    nextResult = () => UNKNOWN;
    await submit(1);
    expect(guarded.health().ok).toBe(false);
  });

  it('a message that was not sent neither closes an open circuit nor is its probe', async () => {
    nextResult = () => UNKNOWN;
    await submit(10);
    // The circuit is open for a second. It was closed when these began.
    now += SECOND_MS;
    nextResult = () => UNSENT;
    await submit(1);
    expect(guarded.health()).toMatchObject({ ok: false, circuit: 'half-open' });
    nextResult = () => UNKNOWN;
    expect(kindsOf(await submit(2))).toEqual(['unknown', 'busy']);
    // The second time it is open for five seconds: nothing has closed it meanwhile.
    now += 4 * SECOND_MS;
    expect(kindsOf(await submit(1))).toEqual(['busy']);
    now += SECOND_MS;
    nextResult = () => ACCEPTED;
    await submit(1);
    expect(guarded.health().ok).toBe(true);
  });

  it('a message that was not sent and ends while the circuit is open changes nothing', async () => {
    let settle = (_: SubmitResult): void => {};
    const waiting = new Promise<SubmitResult>((resolve) => {
      settle = resolve;
    });
    let isFirst = true;
    nextResult = () => {
      if (!isFirst) return UNKNOWN;
      isFirst = false;
      return waiting as unknown as SubmitResult;
    };
    const first = submit(1);
    await submit(10);
    expect(guarded.health().ok).toBe(false);
    settle(UNSENT);
    await first;
    expect(guarded.health()).toMatchObject({ ok: false, circuit: 'open' });
  });

  it('the reason of a guarded provider has neither the number nor the text nor the code of the message', async () => {
    const submission = aSubmission({
      phoneNumber: aPhoneNumber('9647701234567'),
      content: { smsType: 'verification', verificationCode: '987654' },
      text: 'Your verification code is: 987654',
    });
    const quoted = `no credit for "${submission.text}" to +9647701234567 (987654)`;
    nextResult = () => ({ ...BUSY, reason: quoted });
    const rejected = await guarded.submit(submission);
    expect(rejected).toMatchObject({ reason: 'no credit for "***" to +*** (***)' });
    nextResult = () => ({ ...UNKNOWN, reason: quoted });
    const unknown = await guarded.submit(submission);
    expect(unknown).toMatchObject({ reason: 'no credit for "***" to +*** (***)' });
  });

  it('one message decides whether the circuit closes, and the others are not sent meanwhile', async () => {
    nextResult = () => UNKNOWN;
    await submit(10);
    now += SECOND_MS;
    nextResult = () => ACCEPTED;
    expect(kindsOf(await submit(3))).toEqual(['accepted', 'busy', 'busy']);
    expect(calls).toBe(11);
    expect(kindsOf(await submit(3))).toEqual(['accepted', 'accepted', 'accepted']);
    expect(logger.entries.at(-1)).toEqual({
      level: 'info',
      event: 'provider_circuit_closed',
      fields: { provider: 'smsc', projectId: aSubmission().projectId },
    });
  });

  it('the circuit of a provider stays open for longer each time', async () => {
    expect(PROVIDER_OPEN_WINDOWS_MS).toEqual([1_000, 5_000, 15_000, 60_000]);
    nextResult = () => UNKNOWN;
    await submit(10);
    for (const window of [1_000, 5_000, 15_000, 60_000, 60_000]) {
      now += window - 1;
      const before = calls;
      await submit(1);
      expect(calls).toBe(before);
      now += 1;
      await submit(1);
      expect(calls).toBe(before + 1);
    }
  });

  it('a provider that fails with the messages of one project alone is called for the others', async () => {
    for (let round = 0; round < 20; round += 1) {
      nextResult = () => ACCEPTED;
      await of('B');
      expect(guarded.health().ok).toBe(true);
      expect(kindsOf(await together('B', 5))).toEqual(Array(5).fill('accepted'));
      nextResult = () => UNKNOWN;
      for (let count = 0; count < 10; count += 1) await of('A');
      now += SECOND_MS;
    }
  });

  it('a project that sends rarely reaches a provider that keeps failing with another project', async () => {
    for (let second = 1; second <= 600; second += 1) {
      now += SECOND_MS;
      nextResult = () => UNKNOWN;
      await of('A');
      nextResult = () => ACCEPTED;
      if (second % 61 === 0) expect(await of('B')).toMatchObject({ kind: 'accepted' });
    }
  });

  it('a project that sends rarely reaches a provider that fails with two others in alternation', async () => {
    for (let second = 1; second <= 600; second += 1) {
      now += SECOND_MS;
      nextResult = () => UNKNOWN;
      for (let count = 0; count < 5; count += 1) await Promise.all([of('A'), of('C')]);
      nextResult = () => ACCEPTED;
      if (second % 61 === 0) expect(await of('B')).toMatchObject({ kind: 'accepted' });
    }
  });

  it('each project loses one message at a time to a provider that is down', async () => {
    nextResult = () => UNKNOWN;
    await submit(10);
    await together('A', 5);
    expect(kindsOf(await together('B', 5))).toEqual(['unknown', ...Array(4).fill('busy')]);
    expect(kindsOf(await together('B', 5))).toEqual(Array(5).fill('busy'));
    expect(kindsOf(await Promise.all([of('C'), of('D')]))).toEqual(['unknown', 'unknown']);
    expect(guarded.health()).toMatchObject({ ok: false, circuit: 'open' });
    expect(openedOf()).toEqual([aSubmission().projectId, undefined]);
  });

  it.each([
    ['fails', UNKNOWN],
    ['is rejected', REJECTED],
  ])(
    'after an outage of all, a project reaches the provider though each message of another %s',
    async (_, ofA) => {
      nextResult = () => UNKNOWN;
      for (let count = 0; count < 5; count += 1) await Promise.all([of('A'), of('B')]);
      for (let second = 0; second < 60; second += 1) {
        now += SECOND_MS;
        await Promise.all([of('A'), of('B')]);
      }
      const results: SubmitResult[] = [];
      for (let second = 0; second < 60; second += 1) {
        now += SECOND_MS;
        let settle = (_: SubmitResult): void => {};
        const slow = new Promise<SubmitResult>((resolve) => {
          settle = resolve;
        });
        nextResult = () => slow as unknown as SubmitResult;
        const first = of('A');
        nextResult = () => ACCEPTED;
        results.push(await of('B'));
        settle(ofA);
        await first;
      }
      expect(results.at(-1)).toMatchObject({ kind: 'accepted' });
    },
  );

  it('a provider that fails with the messages of several projects is down after ten failures', async () => {
    nextResult = () => UNKNOWN;
    for (const projectId of 'ABCABCABC') await of(projectId);
    expect(guarded.health().ok).toBe(true);
    await of('A');
    expect(guarded.health()).toMatchObject({ ok: false, circuit: 'open' });
    for (const projectId of 'ABC') expect(kindsOf([await of(projectId)])).toEqual(['busy']);
  });

  it.each([
    ['the message', REJECTED],
    ['the sender', rejectedAs('sender', 'No such sender')],
    ['a limit', LIMITED],
  ])('rejections for %s neither keep a circuit closed nor close it', async (_, rejected) => {
    for (let count = 0; count < 10; count += 1) {
      nextResult = () => rejected;
      await of('A');
      nextResult = () => UNKNOWN;
      await of('B');
    }
    expect(guarded.health()).toMatchObject({ ok: false, circuit: 'open' });
    nextResult = () => rejected;
    expect(await of('A')).toEqual(rejected);
    expect(guarded.health()).toMatchObject({ ok: false, circuit: 'open' });
    nextResult = () => UNKNOWN;
    expect(kindsOf([await of('B'), await of('C')])).toEqual(['busy', 'unknown']);
  });

  it('messages of a project are sent although ten of another have just failed, each time', async () => {
    for (let round = 0; round < 3; round += 1) {
      now += 11 * SECOND_MS;
      nextResult = () => ACCEPTED;
      await of('A');
      nextResult = () => UNKNOWN;
      await together('A', 10);
      expect(kindsOf([await of('A')])).toEqual(['busy']);
      nextResult = () => ACCEPTED;
      expect(kindsOf(await together('B', 5))).toEqual(Array(5).fill('accepted'));
    }
  });

  it('the log has the project whose messages fail while others come through, and when they come through again', async () => {
    nextResult = () => UNKNOWN;
    for (let count = 0; count < 10; count += 1) await of('A');
    nextResult = () => ACCEPTED;
    await of('B');
    expect(guarded.health().ok).toBe(true);
    now += SECOND_MS;
    nextResult = () => UNKNOWN;
    await of('A');
    now += 5 * SECOND_MS;
    nextResult = () => ACCEPTED;
    await of('A');
    expect(logger.entries.map(({ event, fields }) => [event, fields?.projectId])).toEqual([
      ['provider_circuit_opened', 'A'],
      ['provider_circuit_closed', 'A'],
    ]);
  });

  it('a provider that comes and goes has a line a minute for each project and for all, and one when it is back', async () => {
    for (let second = 0; second < 60; second += 1) {
      nextResult = () => UNKNOWN;
      await Promise.all([together('A', 10), together('B', 10), together('C', 5)]);
      now += SECOND_MS;
      nextResult = () => ACCEPTED;
      await Promise.all([of('A'), of('B'), of('C')]);
    }
    expect(openedOf()).toEqual(['A', undefined]);
    expect(logger.count('provider_circuit_closed')).toBe(2);
    nextResult = () => UNKNOWN;
    await Promise.all([together('A', 5), together('B', 5)]);
    expect(logger.entries.at(-1)).toMatchObject({ event: 'provider_circuit_opened', fields: { count: 60 } });
  });

  it('a provider that goes again within a minute has its line once the minute is over', async () => {
    const all = () => Promise.all([together('A', 10), together('B', 10)]);
    nextResult = () => UNKNOWN;
    await all();
    now += 20 * SECOND_MS;
    nextResult = () => ACCEPTED;
    await Promise.all([of('A'), of('B')]);
    now += 20 * SECOND_MS;
    nextResult = () => UNKNOWN;
    await all();
    const last = () => logger.entries.findLast(({ fields }) => fields?.projectId === undefined)?.event;
    expect(last()).toBe('provider_circuit_closed');
    now += 20 * SECOND_MS;
    await all();
    expect(last()).toBe('provider_circuit_opened');
  });

  it('a provider that throws counts as one that gives no clear result', async () => {
    nextResult = () => {
      throw new Error('broken');
    };
    for (let count = 0; count < 10; count += 1) await expect(submit(1)).rejects.toThrow('broken');
    expect(guarded.health()).toEqual({ ok: false, detail: 'circuit open; bound', circuit: 'open' });
  });
});

import { describe, expect, it } from 'vitest';
import type { PendingSubmission } from '../../../src/application/attempts/advance-messages.ts';
import type { ApplyMessageEvents } from '../../../src/application/attempts/apply-message-events.ts';
import type { SubmittedAttempt } from '../../../src/application/attempts/correlate-receipts.ts';
import { SubmissionCapacity } from '../../../src/application/attempts/submission-capacity.ts';
import { SubmitAttempts, TIMEOUT_TOLERANCE_MS } from '../../../src/application/attempts/submit-attempts.ts';
import { WaitingStarts } from '../../../src/application/attempts/waiting-starts.ts';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import type { ChannelProvider } from '../../../src/application/ports/channel-provider.ts';
import {
  type ProviderCapacity,
  UNLIMITED_CAPACITY,
} from '../../../src/domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../../src/domain/providers/submit-result.ts';
import { WAITING_MIN } from '../../../src/domain/providers/waiting-limits.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';
import {
  aMessage,
  anAttempt,
  anSmsId,
  aProject,
  NOW,
  PROJECT_ID,
  SECOND_MS,
} from '../../support/builders.ts';
import { Gate } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const ATTEMPT_TIMEOUT_MS = 30 * SECOND_MS;
const LIVE = aProject({ environment: 'live' });

const acceptedAs = (id: string): SubmitResult => ({ kind: 'accepted', providerMessageIds: [id] });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const FULL: ProviderCapacity = { free: 0, passing: 0, waiting: WAITING_MIN, ahead: WAITING_MIN };

/** Attempts that were committed. */
const pendingOf = (channel: Channel, numbers: readonly number[], { hasWaited = false } = {}) =>
  numbers.map((number) => ({
    message: aMessage({
      smsId: anSmsId(number),
      channels: [channel],
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      attempts: [anAttempt({ startedAt: NOW })],
    }),
    project: LIVE,
    attemptNumber: 0,
    hasWaited,
  }));

/**
 * SubmitAttempts around one provider, or none; `lateMs` after its attempts were committed. Results are committed after
 * `recordsAfter`.
 */
function world(
  submit: ChannelProvider['submit'] | null,
  { lateMs = 0, recordsAfter }: { readonly lateMs?: number; readonly recordsAfter?: Promise<void> } = {},
) {
  /** The message of every call of the provider. */
  const calls: string[] = [];
  const recorded: SubmittedAttempt[] = [];
  const timeouts: { expire: () => void; isCancelled: boolean }[] = [];
  const logger = new RecordingLogger();
  const background = new BackgroundWork({ logger });
  const capacity = new SubmissionCapacity({ inFlightMax: 1 });
  const applyMessageEvents: Pick<ApplyMessageEvents, 'submitted'> = {
    async submitted(attempt) {
      recorded.push(attempt);
      await recordsAfter;
    },
  };
  const provider: ChannelProvider = {
    name: 'one',
    async start() {},
    submit(submission) {
      calls.push(submission.smsId);
      if (submit === null) throw new Error('No route leads here');
      return submit(submission);
    },
    whenHandedOver: () => {},
    capacity: () => UNLIMITED_CAPACITY,
    health: () => ({ ok: true, detail: 'under test' }),
    check: async () => ({ ok: true, detail: 'under test' }),
    async close() {},
  };
  const submitAttempts = new SubmitAttempts({
    applyMessageEvents: applyMessageEvents as ApplyMessageEvents,
    submissionCapacity: capacity,
    waitingStarts: new WaitingStarts({ submissionCapacity: capacity, clock: { now: () => NOW } }),
    submitTimeout(expired) {
      const timeout = { expire: expired, isCancelled: false };
      timeouts.push(timeout);
      return () => {
        timeout.isCancelled = true;
      };
    },
    background,
    clock: { now: () => NOW + lateMs },
    logger,
    channelProviders: { route: () => (submit === null ? [] : [provider]) },
  });
  const pending = (channel: Channel, ...numbers: readonly number[]) => pendingOf(channel, numbers);
  const execute = (channel: Channel, ...numbers: readonly number[]) =>
    submitAttempts.execute(pendingOf(channel, numbers));
  const isFull = (channel: Channel) =>
    capacity.retryAt(
      { channel, environment: 'live', provider: 'one' },
      { priority: 'code', projectId: PROJECT_ID },
      NOW,
    ) !== null;
  return { submitAttempts, pending, execute, calls, recorded, timeouts, background, logger, isFull };
}

/** What is recorded of a message. */
const result = (number: number, expected: unknown, provider: string | undefined = 'one') => ({
  smsId: anSmsId(number),
  attemptNumber: 0,
  channel: 'sms',
  provider,
  result: expected,
});

/** SubmitAttempts around a route of providers by name, whose results are given. */
function routedWorld(
  providers: Readonly<Record<string, ChannelProvider['submit']>>,
  {
    nowAfterFirst = NOW,
    capacities = [],
  }: { readonly nowAfterFirst?: number; readonly capacities?: readonly ProviderCapacity[] } = {},
) {
  const submissionCapacity = new SubmissionCapacity();
  const calls: [provider: string, smsId: string][] = [];
  /** The time that each call left to the provider. */
  const attemptTimeoutsMs: number[] = [];
  const recorded: SubmittedAttempt[] = [];
  let now = NOW;
  const route = Object.entries(providers).map(
    ([name, submit], index): ChannelProvider => ({
      name,
      async start() {},
      submit(submission) {
        calls.push([name, submission.smsId]);
        attemptTimeoutsMs.push(submission.attemptTimeoutMs);
        now = nowAfterFirst;
        return submit(submission);
      },
      whenHandedOver: () => {},
      capacity: () => capacities[index] ?? UNLIMITED_CAPACITY,
      health: () => ({ ok: true, detail: 'under test' }),
      check: async () => ({ ok: true, detail: 'under test' }),
      async close() {},
    }),
  );
  const submitAttempts = new SubmitAttempts({
    applyMessageEvents: {
      async submitted(attempt: SubmittedAttempt) {
        recorded.push(attempt);
      },
    } as unknown as ApplyMessageEvents,
    submissionCapacity,
    waitingStarts: new WaitingStarts({ submissionCapacity, clock: { now: () => now } }),
    submitTimeout: () => () => {},
    background: new BackgroundWork({ logger: new RecordingLogger() }),
    clock: { now: () => now },
    logger: new RecordingLogger(),
    channelProviders: { route: () => route },
  });
  const execute = (...numbers: readonly number[]) => submitAttempts.execute(pendingOf('sms', numbers));
  return { submitAttempts, execute, calls, attemptTimeoutsMs, recorded };
}

const rejectedAs = (cause?: 'busy' | 'limited' | 'sender', endsChain = false): SubmitResult => ({
  kind: 'rejected',
  reason: 'Not this one',
  endsChain,
  ...(cause === undefined ? {} : { cause }),
});

describe('a route of several providers', () => {
  it('SubmitAttempts gives to the next provider only what the one before it had no time or no sender for', async () => {
    const numbers = [1, 2, 3, 4, 5, 6];
    const results = [
      acceptedAs('first'),
      rejectedAs('busy'),
      rejectedAs('sender'),
      rejectedAs(),
      { kind: 'unknown', reason: 'silence', providerMessageIds: [] },
      rejectedAs('busy', true),
    ] as const;
    const here = routedWorld({
      first: async ({ smsId }) => results[numbers.map(anSmsId).indexOf(smsId)] as SubmitResult,
      second: async ({ smsId }) => acceptedAs(`second ${smsId}`),
    });
    await here.execute(...numbers);
    expect(here.calls).toEqual([
      ...numbers.map((number) => ['first', anSmsId(number)]),
      ...[2, 3].map((number) => ['second', anSmsId(number)]),
    ]);
    expect(here.recorded.toSorted((a, b) => a.smsId.localeCompare(b.smsId))).toEqual([
      result(1, acceptedAs('first'), 'first'),
      result(2, acceptedAs(`second ${anSmsId(2)}`), 'second'),
      result(3, acceptedAs(`second ${anSmsId(3)}`), 'second'),
      result(4, rejectedAs(), 'first'),
      result(5, results[4], 'first'),
      result(6, rejectedAs('busy', true), 'first'),
    ]);
  });

  it('SubmitAttempts records that a provider was busy when the ones after it do not know the sender', async () => {
    const here = routedWorld({
      first: async () => ({ ...rejectedAs('busy'), reason: 'Busy' }) as SubmitResult,
      second: async () => rejectedAs('sender'),
    });
    await here.execute(1);
    expect(here.recorded).toEqual([result(1, { ...rejectedAs('busy'), reason: 'Busy' }, 'first')]);
    const other = routedWorld({
      first: async () => rejectedAs('sender'),
      second: async () => rejectedAs('sender'),
    });
    await other.execute(1);
    expect(other.recorded).toEqual([result(1, rejectedAs('sender'), 'second')]);
  });

  it('SubmitAttempts gives what has waited for a provider that is full to the next one at once', async () => {
    const here = routedWorld(
      { first: async () => acceptedAs('first'), second: async () => acceptedAs('second') },
      { capacities: [FULL, UNLIMITED_CAPACITY] },
    );
    await here.submitAttempts.execute(pendingOf('sms', [1, 2], { hasWaited: true }));
    await here.execute(3);
    expect(here.calls).toEqual([
      ['second', anSmsId(1)],
      ['second', anSmsId(2)],
      ['first', anSmsId(3)],
    ]);
  });

  it('SubmitAttempts calls no provider that is full for what has waited: it would wait there, too', async () => {
    const here = routedWorld(
      { first: async () => acceptedAs('first'), second: async () => acceptedAs('second') },
      { capacities: [FULL, FULL] },
    );
    await here.submitAttempts.execute(pendingOf('sms', [1], { hasWaited: true }));
    expect(here.calls).toEqual([]);
    const expected = { ...rejectedAs('limited'), reason: 'More messages wait than the provider takes' };
    expect(here.recorded).toEqual([result(1, expected, 'second')]);
  });

  it('SubmitAttempts begins with the providers that have capacity for what is tried again', async () => {
    const here = routedWorld(
      { first: async () => acceptedAs('first'), second: async () => acceptedAs('second') },
      { capacities: [FULL, UNLIMITED_CAPACITY] },
    );
    const [fresh] = pendingOf('sms', [1]) as [PendingSubmission];
    const { message } = fresh;
    const attempts = message.attempts.map((each) => ({ ...each, triedSince: NOW - SECOND_MS }));
    await here.submitAttempts.execute([fresh, { ...fresh, message: { ...message, attempts } }]);
    expect(here.calls.map(([name]) => name)).toEqual(['first', 'second']);
  });

  it.each([
    ['is full', FULL],
    ['lets few wait', { free: 0, passing: 0, waiting: 0, ahead: 0 }],
    ['has places for others', { free: 9, passing: 0, waiting: 0, ahead: 0 }],
  ])(
    'SubmitAttempts begins where nothing waits while the first provider throttles and %s',
    async (_, first) => {
      const here = routedWorld(
        { first: async () => acceptedAs('first'), second: async () => acceptedAs('second') },
        {
          capacities: [
            { ...first, ofRate: 0 },
            { free: 1, passing: 0, waiting: 0, ahead: 0 },
          ],
        },
      );
      await here.submitAttempts.execute(pendingOf('sms', [1]));
      expect(here.calls).toEqual([['second', anSmsId(1)]]);
    },
  );

  it('SubmitAttempts calls the provider of what has waited as soon as it has capacity', async () => {
    const here = routedWorld(
      { first: async () => acceptedAs('first'), second: async () => acceptedAs('second') },
      { capacities: [{ free: 1, passing: 0, waiting: WAITING_MIN, ahead: WAITING_MIN }] },
    );
    await here.submitAttempts.execute(pendingOf('sms', [1], { hasWaited: true }));
    expect(here.calls).toEqual([['first', anSmsId(1)]]);
  });

  it('SubmitAttempts rejects what has waited for its only provider as it does what waited there', async () => {
    const here = routedWorld({ first: async () => acceptedAs('first') }, { capacities: [FULL] });
    await here.submitAttempts.execute(pendingOf('sms', [1], { hasWaited: true }));
    const expected = { ...rejectedAs('limited'), reason: 'More messages wait than the provider takes' };
    expect(here.recorded).toEqual([result(1, expected, 'first')]);
  });

  it('SubmitAttempts records what the last provider of the route said', async () => {
    const here = routedWorld({
      first: async () => rejectedAs('busy'),
      second: async () => rejectedAs('busy'),
    });
    await here.execute(1);
    expect(here.calls.map(([name]) => name)).toEqual(['first', 'second']);
    expect(here.recorded).toEqual([result(1, rejectedAs('busy'), 'second')]);
  });

  it.each([
    ['what is left of the time of the attempt', 4, 26],
    ['no more than the time of an attempt when the clock was put back', -3_600, 30],
  ])('SubmitAttempts gives the next provider %s', async (_, seconds, leftSeconds) => {
    const here = routedWorld(
      { first: async () => rejectedAs('busy'), second: async () => acceptedAs('second') },
      { nowAfterFirst: NOW + seconds * SECOND_MS },
    );
    await here.execute(1);
    expect(here.attemptTimeoutsMs).toEqual([30 * SECOND_MS, leftSeconds * SECOND_MS]);
  });

  it.each([
    ['what is left of an attempt that began long ago', 25_000, 5_000],
    ['the whole time of an attempt that began a moment ago', TIMEOUT_TOLERANCE_MS - 1, 30_000],
  ])('SubmitAttempts gives the first provider %s', async (_, lateMs, toldMs) => {
    const told: number[] = [];
    const here = world(
      async ({ attemptTimeoutMs }) => {
        told.push(attemptTimeoutMs);
        return acceptedAs('id');
      },
      { lateMs },
    );
    await here.execute('sms', 1);
    expect(told).toEqual([toldMs]);
  });

  it('SubmitAttempts gives nothing to the next provider once the time of the attempt is over', async () => {
    const here = routedWorld(
      { first: async () => rejectedAs('busy'), second: async () => acceptedAs('too late') },
      { nowAfterFirst: NOW + ATTEMPT_TIMEOUT_MS },
    );
    await here.execute(1);
    expect(here.calls.map(([name]) => name)).toEqual(['first']);
    expect(here.recorded).toEqual([result(1, rejectedAs('busy'), 'first')]);
  });
});

describe('SubmitAttempts', () => {
  it('SubmitAttempts submits an attempt until its time is over, and not after', async () => {
    const inTime = world(async () => acceptedAs('id'), { lateMs: ATTEMPT_TIMEOUT_MS - 1 });
    await inTime.execute('sms', 1);
    expect(inTime.calls).toEqual([anSmsId(1)]);
    const tooLate = world(async () => acceptedAs('id'), { lateMs: ATTEMPT_TIMEOUT_MS });
    await tooLate.execute('sms', 1);
    expect([tooLate.calls, tooLate.recorded]).toEqual([[], []]);
  });

  it('SubmitAttempts records each result with its message, although the one of another is still out', async () => {
    const gate = new Gate();
    const here = world(async ({ smsId }) => {
      if (smsId === anSmsId(1)) await gate.opened;
      return acceptedAs(`id of ${smsId}`);
    });
    const submitting = here.execute('sms', 1, 2);
    await turn();
    expect(here.calls).toEqual([anSmsId(1), anSmsId(2)]);
    expect(here.recorded).toEqual([result(2, acceptedAs(`id of ${anSmsId(2)}`))]);
    expect(here.timeouts.map(({ isCancelled }) => isCancelled)).toEqual([false, true]);
    gate.open();
    await submitting;
    expect(here.recorded.slice(1)).toEqual([result(1, acceptedAs(`id of ${anSmsId(1)}`))]);
    expect(here.timeouts.map(({ isCancelled }) => isCancelled)).toEqual([true, true]);
  });

  it('SubmitAttempts rejects for what could not be recorded, and not before the others are', async () => {
    const gate = new Gate();
    const here = world(async ({ smsId }) => {
      if (smsId === anSmsId(3)) await gate.opened;
      return acceptedAs(`id of ${smsId}`);
    });
    const away = new Error('the database is away');
    const record = here.recorded.push.bind(here.recorded);
    here.recorded.push = (attempt) => {
      if (attempt.smsId !== anSmsId(3)) throw away;
      return record(attempt);
    };
    let error: unknown = null;
    const submitting = here.execute('sms', 1, 2, 3).catch((thrown: unknown) => {
      error = thrown;
    });
    await turn();
    expect(error).toBeNull();
    gate.open();
    await submitting;
    expect(error).toMatchObject({ message: '2 submit results were not recorded', cause: away });
    expect([...here.recorded]).toEqual([result(3, acceptedAs(`id of ${anSmsId(3)}`))]);
  });

  it('SubmitAttempts calls a provider that throws once for each message, and records the outcomes as unknown', async () => {
    const rejecting = world(() => Promise.reject(new Error('broken')));
    const throwing = world(() => {
      throw new Error('broken at once');
    });
    for (const here of [rejecting, throwing]) {
      await here.execute('sms', 1, 2);
      expect(here.calls).toEqual([anSmsId(1), anSmsId(2)]);
      const unknown = {
        kind: 'unknown',
        reason: 'The provider failed while it was called',
        providerMessageIds: [],
      };
      expect(here.recorded).toEqual([result(1, unknown), result(2, unknown)]);
      const failed = { level: 'error', event: 'channel_submit_failed' };
      const fields = { channel: 'sms', provider: 'one' };
      expect(here.logger.entries).toEqual([
        { ...failed, fields },
        { ...failed, fields },
      ]);
      expect(here.isFull('sms')).toBe(false);
    }
  });

  it('SubmitAttempts records that a channel without a provider rejected the message, which may go to the next', async () => {
    const here = world(null);
    await here.execute('sms', 1);
    const rejected = {
      kind: 'rejected',
      reason: 'The channel has no provider for this number',
      endsChain: false,
    };
    const { provider: _, ...withoutProvider } = result(1, rejected);
    expect([here.calls, here.recorded]).toEqual([[], [withoutProvider]]);
  });

  it('SubmitAttempts counts submissions as in flight until the provider responded, not until their results are recorded', async () => {
    const [response, commit] = [new Gate(), new Gate()];
    const submit = async () => {
      await response.opened;
      return acceptedAs('id');
    };
    const here = world(submit, { recordsAfter: commit.opened });
    const submitting = here.execute('sms', 1);
    expect([here.isFull('sms'), here.isFull('whatsapp')]).toEqual([true, false]);
    response.open();
    await turn();
    expect([here.recorded.length, here.isFull('sms')]).toEqual([1, false]);
    commit.open();
    await submitting;
  });

  it('SubmitAttempts gives up a provider that hangs at the deadline, and releases its capacity', async () => {
    const here = world(() => new Promise(() => {}));
    const submitting = here.execute('sms', 1);
    await turn();
    expect([here.recorded, here.isFull('sms')]).toEqual([[], true]);
    here.timeouts[0]?.expire();
    await submitting;
    const unknown = {
      kind: 'unknown',
      reason: 'The provider did not respond in time',
      providerMessageIds: [],
    };
    expect(here.recorded).toEqual([result(1, unknown)]);
    expect(here.isFull('sms')).toBe(false);
    expect(here.logger.entries).toEqual([
      { level: 'warn', event: 'channel_submit_timed_out', fields: { channel: 'sms', provider: 'one' } },
    ]);
  });

  it('SubmitAttempts records what a provider says after the deadline', async () => {
    const gate = new Gate();
    const here = world(async () => {
      await gate.opened;
      return acceptedAs('late');
    });
    const submitting = here.execute('sms', 1);
    here.timeouts[0]?.expire();
    await submitting;
    expect(here.recorded).toHaveLength(1);
    gate.open();
    await turn();
    expect(here.recorded.slice(1)).toEqual([result(1, acceptedAs('late'))]);
    expect(here.background.starts).toBe(1);
    // Its capacity was released once, at the deadline.
    const next = here.execute('sms', 2);
    expect(here.isFull('sms')).toBe(true);
    await next;
  });

  it('SubmitAttempts logs that the late word of a provider could not be recorded', async () => {
    const gate = new Gate();
    const here = world(async () => {
      await gate.opened;
      return acceptedAs('late');
    });
    const submitting = here.execute('sms', 1);
    here.timeouts[0]?.expire();
    await submitting;
    here.recorded.push = () => {
      throw new Error('the database is away');
    };
    gate.open();
    await turn();
    expect(here.logger.entries.slice(1)).toEqual([
      { level: 'error', event: 'channel_result_lost', fields: { channel: 'sms' } },
    ]);
  });
});

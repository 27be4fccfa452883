import { describe, expect, it } from 'vitest';
import { Simulator } from '../../src/adapters/simulator/simulator.ts';
import type { ChannelProvider } from '../../src/application/ports/channel-provider.ts';
import type { SubmitResult } from '../../src/domain/providers/submit-result.ts';
import { SUBMIT_TIMEOUT_MS } from '../../src/domain/providers/submit-result.ts';
import { anSmsId, aSubmission, aTestNumber, NOW } from '../support/builders.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { brokenPromises, type ProviderUnderTest } from './channel-provider.contract.ts';

const MINUTE_MS = 60_000;
/** For providers that are known to hang. */
const SOON_MS = 20;

/** The simulator, with one message each that it accepts, rejects and leaves unknown, and one of two parts. */
function simulator(): ProviderUnderTest {
  const clock = { at: NOW, now: () => clock.at };
  const carried: string[] = [];
  const provider = new Simulator({
    clock,
    logger: new RecordingLogger(),
    onSubmission: ({ smsId }) => carried.push(smsId),
  });
  const rows = [
    ['0001', 'accepted'],
    ['0006', 'rejected'],
    ['0011', 'unknown'],
    ['0015', 'accepted'],
  ] as const;
  return {
    provider,
    submissions: rows.map(([digits, kind], index) => ({
      submission: aSubmission({ smsId: anSmsId(index), phoneNumber: aTestNumber(digits) }),
      kind,
    })),
    carried: () => carried,
    async letEventsCome() {
      clock.at += MINUTE_MS;
      await provider.deliverDue();
    },
    promptMs: SUBMIT_TIMEOUT_MS,
  };
}

/** The simulator with some of its methods replaced. */
function planted(
  fault: (sound: ChannelProvider) => Partial<ChannelProvider>,
  promptMs = SUBMIT_TIMEOUT_MS,
): () => ProviderUnderTest {
  return () => {
    const sound = simulator();
    const { provider } = sound;
    const whole: ChannelProvider = {
      name: provider.name,
      start: (sink) => provider.start(sink),
      submit: (submission) => provider.submit(submission),
      whenHandedOver: (listener) => provider.whenHandedOver(listener),
      capacity: (backlog) => provider.capacity(backlog),
      health: () => provider.health(),
      check: () => provider.check(),
      close: () => provider.close(),
    };
    return { ...sound, provider: { ...whole, ...fault(whole) }, promptMs };
  };
}

/** Changes the results of the simulator; `index` counts them from a start on. */
const changing = (change: (result: SubmitResult, index: number) => SubmitResult) =>
  planted((sound) => {
    let index = -1;
    return {
      async submit(submission) {
        index += 1;
        return change(await sound.submit(submission), index);
      },
    };
  });

/** Each message has the result of the one before it, and the first one that of the last. */
const shifting = () =>
  planted((sound) => {
    const results: Promise<SubmitResult>[] = [];
    return {
      async submit(submission) {
        const index = results.push(sound.submit(submission)) - 1;
        // Until all messages have come.
        await new Promise((resolve) => setImmediate(resolve));
        return results.at(index - 1) as Promise<SubmitResult>;
      },
    };
  });

const withIds = (result: SubmitResult, providerMessageIds: readonly string[]): SubmitResult =>
  result.kind === 'accepted' ? { ...result, providerMessageIds } : result;

describe('the contract of channel providers', () => {
  it('the simulator keeps the contract of channel providers', async () => {
    expect(await brokenPromises(simulator)).toEqual([]);
  });

  it.each<[fault: string, open: () => ProviderUnderTest, broken: string]>([
    [
      'hangs',
      planted(() => ({ submit: () => new Promise(() => {}) }), SOON_MS),
      'results come within the submit timeout',
    ],
    ['rejects', planted(() => ({ submit: () => Promise.reject(new Error('down')) })), 'submit never rejects'],
    [
      'throws',
      planted(() => ({
        submit() {
          throw new Error('down');
        },
      })),
      'submit never rejects',
    ],
    [
      'rejects to revoke',
      planted(() => ({ revoke: () => Promise.reject(new Error('down')) })),
      'revoke never rejects',
    ],
    ['gives messages the results of others', shifting(), 'a result is that of its message'],
    ['gives no ids', changing((result) => withIds(result, [])), 'an accepted message has an id'],
    ['gives one id to two messages', changing((result) => withIds(result, ['same'])), 'no id is given twice'],
    [
      'counts its ids from one again after a restart',
      changing((result, index) => withIds(result, [`${index + 1}`])),
      'no id is given twice',
    ],
    [
      'brings no receipt a second time when it was not recorded',
      planted((sound) => ({
        start: (sink) => sound.start((events, settled) => sink(events, settled).catch(() => {})),
      })),
      'events that were not recorded come again',
    ],
    [
      'names other ids in receipts than in results',
      changing((result, index) => withIds(result, [`other-${index}`])),
      'a receipt is under an id of a submit result',
    ],
    [
      'submits each message twice',
      planted((sound) => ({
        async submit(submission) {
          await sound.submit(submission);
          return sound.submit(submission);
        },
      })),
      'each message is submitted once',
    ],
    [
      'says nothing of its health',
      planted(() => ({ health: () => ({ ok: true, detail: '' }) })),
      'health says how it is',
    ],
    [
      'brings events after it was closed',
      planted(() => ({ async close() {} })),
      'no event comes after close',
    ],
    [
      'cannot be closed twice',
      planted((sound) => {
        let isClosed = false;
        return {
          close() {
            if (isClosed) return Promise.reject(new Error('closed'));
            isClosed = true;
            return sound.close();
          },
        };
      }),
      'close may be called twice',
    ],
    [
      'cannot be closed before it was started',
      planted((sound) => {
        let isStarted = false;
        return {
          start(sink) {
            isStarted = true;
            return sound.start(sink);
          },
          close: () => (isStarted ? sound.close() : Promise.reject(new Error('not started'))),
        };
      }),
      'close needs no start',
    ],
  ])('a provider that %s breaks the contract', async (_, open, broken) => {
    expect(await brokenPromises(open)).toContain(broken);
  });
});

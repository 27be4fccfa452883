import { describe, expect, it } from 'vitest';
import { OutgoingMessage } from '../../../src/adapters/smpp/outgoing-message.ts';
import { RESPONSE_TIMEOUT_MS, SubmitDeadlines } from '../../../src/adapters/smpp/submit-deadlines.ts';
import { PROVIDER_WAIT_MS } from '../../../src/application/ports/channel-provider.ts';
import type { SubmitResult } from '../../../src/domain/providers/submit-result.ts';
import { aSubmission } from '../../support/builders.ts';
import { ManualTimeouts } from './manual-timeouts.ts';

const LIMITED = {
  kind: 'rejected',
  cause: 'limited',
  reason: 'More messages wait than the provider takes',
  endsChain: false,
};

function aWorld() {
  const timers = new ManualTimeouts();
  const unwritten: OutgoingMessage[] = [];
  const deadlines = new SubmitDeadlines({
    timeouts: timers.timeouts,
    onUnwritten: (message) => unwritten.push(message),
  });
  const results: SubmitResult[] = [];
  const submit = (): OutgoingMessage => {
    const message: OutgoingMessage = new OutgoingMessage(
      aSubmission(),
      { partsOf: () => [], submitIds: 'as-is' },
      {
        settled: (result) => results.push(result),
        takenLate() {},
        partWritten() {},
        finished: () => group.end(message),
      },
      0,
    );
    const group = deadlines.begin(message);
    return message;
  };
  return { timers, unwritten, results, submit };
}

describe('the deadlines of messages', () => {
  it('messages of one turn have their timers in common, and give them back with the last result', () => {
    const { timers, submit } = aWorld();
    const messages = [submit(), submit()];
    expect(timers.all).toEqual([PROVIDER_WAIT_MS, RESPONSE_TIMEOUT_MS]);
    messages[0]?.giveUpUnwritten('No session');
    expect(timers.all).toHaveLength(2);
    messages[1]?.giveUpUnwritten('No session');
    expect(timers.all).toEqual([]);
  });

  it('messages of a later turn have timers of their own', async () => {
    const { timers, submit } = aWorld();
    submit();
    await Promise.resolve();
    submit();
    expect(timers.all).toHaveLength(4);
  });

  it('a message has timers although those submitted just before it have their results', () => {
    const { timers, submit } = aWorld();
    submit().giveUpUnwritten('No session');
    submit();
    expect(timers.all).toEqual([PROVIDER_WAIT_MS, RESPONSE_TIMEOUT_MS]);
  });

  it('every message that is not written by its deadline is given up, and leaves the queue', () => {
    const { timers, unwritten, results, submit } = aWorld();
    const messages = [submit(), submit(), submit()];
    timers.expire(PROVIDER_WAIT_MS);
    expect(results).toEqual([LIMITED, LIMITED, LIMITED]);
    expect(unwritten).toEqual(messages);
    expect(timers.all).toEqual([]);
  });
});

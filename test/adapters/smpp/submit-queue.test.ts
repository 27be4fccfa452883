import { expect, it } from 'vitest';
import { OutgoingMessage } from '../../../src/adapters/smpp/outgoing-message.ts';
import { SubmitQueue } from '../../../src/adapters/smpp/submit-queue.ts';
import type { SubmitResult } from '../../../src/domain/providers/submit-result.ts';
import { aSubmission } from '../../support/builders.ts';
import { ManualTimeouts } from './manual-timeouts.ts';

it('the queue goes on after an error that it met once', async () => {
  let isBroken = true;
  const queue = new SubmitQueue({
    sessions: () => {
      if (isBroken) throw new Error('planted');
      return [];
    },
    window: 1,
    perSecond: null,
    uptime: () => 0,
    timeouts: new ManualTimeouts().timeouts,
  });
  expect(() => queue.pump()).toThrow('planted');
  isBroken = false;
  const result = await new Promise<SubmitResult>((settled) => {
    const events = { settled, takenLate() {}, partWritten() {}, finished() {} };
    queue.add(new OutgoingMessage(aSubmission(), { partsOf: () => [], submitIds: 'as-is' }, events, 0));
  });
  expect(result).toMatchObject({ kind: 'rejected', reason: 'The SMSC is not connected' });
});

import { expect, it } from 'vitest';
import { rejectedAs, unknownResult } from '../../../src/domain/messages/submit-result.ts';

it('a rejection has a cause only when it is not the fault of the message', () => {
  expect([
    rejectedAs('busy', 'Throttled'),
    rejectedAs('sender', 'No such sender'),
    rejectedAs('message', 'No such number'),
    rejectedAs('ends-chain', 'No such country'),
  ]).toStrictEqual([
    { kind: 'rejected', reason: 'Throttled', endsChain: false, cause: 'busy' },
    { kind: 'rejected', reason: 'No such sender', endsChain: false, cause: 'sender' },
    { kind: 'rejected', reason: 'No such number', endsChain: false },
    { kind: 'rejected', reason: 'No such country', endsChain: true },
  ]);
});

it('an unknown result has the ids that the provider named, and none otherwise', () => {
  expect(unknownResult('No reply')).toStrictEqual({
    kind: 'unknown',
    reason: 'No reply',
    providerMessageIds: [],
  });
  expect(unknownResult('No reply', ['17'])).toMatchObject({ providerMessageIds: ['17'] });
});

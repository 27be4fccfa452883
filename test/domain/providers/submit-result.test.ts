import { expect, it, test } from 'vitest';
import {
  didItsWork,
  isForLater,
  isForNextProvider,
  rejectedAs,
  type SubmitResult,
  unknownResult,
} from '../../../src/domain/providers/submit-result.ts';

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
  expect(unknownResult('No response')).toStrictEqual({
    kind: 'unknown',
    reason: 'No response',
    providerMessageIds: [],
  });
  expect(unknownResult('No response', ['17'])).toMatchObject({ providerMessageIds: ['17'] });
});

const THROTTLED = rejectedAs('throttled', '');
const ACCEPTED: SubmitResult = { kind: 'accepted', providerMessageIds: ['17'] };

test.each<[what: string, result: SubmitResult, next: boolean, later: boolean, worked: boolean | null]>([
  ['accepted', ACCEPTED, false, false, true],
  ['unknown', unknownResult('No response'), false, false, false],
  ['unknown at a limit', unknownResult('Too late', [], 'limited'), false, false, null],
  ['busy', rejectedAs('busy', ''), true, true, false],
  ['throttled', THROTTLED, true, true, null],
  ['limited', rejectedAs('limited', ''), true, true, null],
  ['sender', rejectedAs('sender', ''), true, false, null],
  ['message', rejectedAs('message', ''), false, false, null],
  ['ends-chain', rejectedAs('ends-chain', ''), false, false, null],
])(
  'a result that is %s says who gets the message next, and whether the provider works',
  (_, result, next, later, worked) => {
    expect([isForNextProvider(result), isForLater(result)]).toEqual([next, later]);
    expect(didItsWork(result, false)).toBe(worked);
    expect(didItsWork(result, true)).toBe(result === THROTTLED ? false : worked);
  },
);

it('a result that ends the chain is for nobody else, whatever its cause', () => {
  expect(isForNextProvider({ kind: 'rejected', reason: '', endsChain: true, cause: 'busy' })).toBe(false);
});

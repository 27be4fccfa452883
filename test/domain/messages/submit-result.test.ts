import { expect, it, test } from 'vitest';
import {
  didItsWork,
  isForLater,
  isForNextProvider,
  rejectedAs,
  type SubmitResult,
  unknownResult,
  withoutContent,
} from '../../../src/domain/messages/submit-result.ts';
import { aCode, aTemplateContent } from '../../support/builders.ts';

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

const ACCEPTED: SubmitResult = { kind: 'accepted', providerMessageIds: ['17'] };

test.each<[what: string, result: SubmitResult, next: boolean, later: boolean, worked: boolean | null]>([
  ['accepted', ACCEPTED, false, false, true],
  ['unknown', unknownResult('No response'), false, false, false],
  ['busy', rejectedAs('busy', ''), true, true, false],
  ['limited', rejectedAs('limited', ''), true, true, null],
  ['sender', rejectedAs('sender', ''), true, false, null],
  ['message', rejectedAs('message', ''), false, false, null],
  ['ends-chain', rejectedAs('ends-chain', ''), false, false, null],
])(
  'a result that is %s says who gets the message next, and whether the provider works',
  (_, result, next, later, worked) => {
    expect([isForNextProvider(result), isForLater(result)]).toEqual([next, later]);
    expect(didItsWork(result)).toBe(worked);
  },
);

it('a result that ends the chain is for nobody else, whatever its cause', () => {
  expect(isForNextProvider({ kind: 'rejected', reason: '', endsChain: true, cause: 'busy' })).toBe(false);
});

const SENT = { phoneNumber: '9647712345678', text: 'Code 123456', content: aCode() };

it('a reason holds nothing of what was sent', () => {
  const reason = 'no credit for "Code 123456" to +9647712345678 (123456)';
  const masked = 'no credit for "***" to +*** (***)';
  expect(withoutContent(rejectedAs('busy', reason), SENT)).toEqual(rejectedAs('busy', masked));
  expect(withoutContent(unknownResult(reason, ['1']), SENT)).toEqual(unknownResult(masked, ['1']));
});

it('a reason holds no text of four characters that was sent, and no number of a template', () => {
  expect(withoutContent(rejectedAs('message', 'abcd is blocked'), { ...SENT, text: 'abcd' })).toEqual(
    rejectedAs('message', '*** is blocked'),
  );
  const template = { ...SENT, content: aTemplateContent() };
  expect(withoutContent(rejectedAs('message', 'No 9647712345678'), template)).toEqual(
    rejectedAs('message', 'No ***'),
  );
});

it('a reason keeps words of three characters, and the reason of an unknown message stays as it is', () => {
  const result = rejectedAs('message', 'abc is blocked');
  expect(withoutContent(result, { ...SENT, text: 'abc' })).toEqual(result);
});

it('an accepted message keeps its ids', () => {
  const accepted = { kind: 'accepted', providerMessageIds: ['9647712345678'] } as const;
  expect(withoutContent(accepted, SENT)).toEqual(accepted);
});

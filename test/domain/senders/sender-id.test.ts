import { expect, test } from 'vitest';
import { decideSenderId, type SenderId } from '../../../src/domain/senders/sender-id.ts';
import { aSenderId } from '../../support/builders.ts';

const accepted = aSenderId();

test.each<[string, requested: string | null, found: SenderId | undefined, expected: object]>([
  ['none asked for', null, undefined, { kind: 'usable', prices: null }],
  ['none asked for, one found', null, accepted, { kind: 'usable', prices: null }],
  ['unknown', 'Barid', undefined, { kind: 'sender-id-not-found' }],
  ['accepted', 'Barid', accepted, { kind: 'usable', prices: accepted.pricePerSms }],
  ['pending', 'Barid', aSenderId({ status: 'pending' }), { kind: 'sender-id-not-accepted' }],
  ['rejected', 'Barid', aSenderId({ status: 'rejected' }), { kind: 'sender-id-not-accepted' }],
])(
  'a sender ID is usable only when the project has it and it is accepted: %s',
  (_, requested, found, expected) => {
    expect(decideSenderId(requested, found)).toEqual(expected);
  },
);

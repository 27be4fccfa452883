import { describe, expect, it, test } from 'vitest';
import {
  approvedSenderId,
  pricedSenderId,
  rejectedSenderId,
  requestedSenderId,
  senderIdRequestRejection,
} from '../../../src/domain/senders/managed-sender-id.ts';
import { SENDER_ID_STATUSES } from '../../../src/domain/senders/sender-id.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { aSenderId } from '../../support/builders.ts';

const pending = { ...aSenderId({ status: 'pending' }), reason: null };

describe('a sender ID that operators decide', () => {
  it('a new sender ID waits for a decision', () => {
    const { status: _, reason: __, ...given } = pending;
    expect(requestedSenderId(given)).toEqual(pending);
  });

  test.each(SENDER_ID_STATUSES)('a sender ID that is %s can be approved, rejected and priced', (status) => {
    const sender = { ...aSenderId({ status }), reason: status === 'rejected' ? 'Before' : null };
    expect(approvedSenderId(sender)).toEqual({ ...sender, status: 'accepted', reason: null });
    expect(rejectedSenderId(sender, 'A bank')).toEqual({ ...sender, status: 'rejected', reason: 'A bank' });
    expect(pricedSenderId(sender, { asiaCell: iqd(1) })).toEqual({
      ...sender,
      pricePerSms: { korekTelecom: iqd(70), asiaCell: iqd(1), zainIraq: iqd(70), others: iqd(90) },
    });
  });

  it('a project has one sender ID of a name, where letter case matters, and at most 100', () => {
    const taken = [aSenderId({ senderId: 'Souq', status: 'rejected' })];
    expect(senderIdRequestRejection(taken, 'Souq')).toEqual({ kind: 'sender-id-taken' });
    expect(senderIdRequestRejection(taken, 'SOUQ')).toBeNull();
    const names = (count: number) =>
      Array.from({ length: count }, (_, index) => aSenderId({ senderId: `N${index}` }));
    expect(senderIdRequestRejection(names(99), 'Souq')).toBeNull();
    expect(senderIdRequestRejection(names(100), 'Souq')).toEqual({ kind: 'too-many-sender-ids' });
    expect(senderIdRequestRejection(names(100), 'N7')).toEqual({ kind: 'sender-id-taken' });
  });
});

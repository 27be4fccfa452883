import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessageIdForms } from '../../../src/domain/sms/message-id-forms.ts';
import { readReceipt, type SmppReceipt } from '../../../src/domain/sms/receipt-text.ts';

const AS_IS: MessageIdForms = { submitIds: 'as-is', receiptIds: 'as-is' };

const USUAL =
  'id:0123456789 sub:001 dlvrd:001 submit date:2601021530 done date:2601021531 stat:DELIVRD err:000 text:Your verification co';

const read = (text: string, parameters: Partial<SmppReceipt> = {}, forms = AS_IS) =>
  readReceipt({ text, receiptedMessageId: null, messageState: null, ...parameters }, forms);

const failed = (reason: string) => ({ kind: 'failed' as const, reason });
const SENT = { kind: 'sent' as const };
const DELIVERED = { kind: 'delivered' as const };

it('the usual receipt of an SMSC is read', () => {
  expect(read(USUAL)).toEqual({ id: '0123456789', receipt: DELIVERED });
});

describe('the dialects of receipts', () => {
  it.each([
    ['short', 'id:7 stat:DELIVRD'],
    [
      'without text',
      'id:7 sub:001 dlvrd:001 submit date:2601021530 done date:2601021531 stat:DELIVRD err:000',
    ],
    [
      'without sub and dlvrd',
      'id:7 submit date:2601021530 done date:2601021531 stat:DELIVRD err:000 text:hello',
    ],
    ['with an empty text', 'id:7 stat:DELIVRD err:000 text:'],
    ['with a capital letter', 'Id:7 Sub:001 Stat:DELIVRD Err:000 Text:hello'],
    ['in capital letters', 'ID:7 SUB:001 DLVRD:001 STAT:DELIVRD ERR:000 TEXT:HELLO'],
    ['in small letters', 'id:7 stat:delivrd err:000'],
    ['with spaces', 'id: 7 sub : 001 stat :  DELIVRD err: 000'],
    ['in another order', 'stat:DELIVRD err:000 done date:2601021531 id:7 text:hello'],
    ['with commas', 'id:7,sub:001,stat:DELIVRD,err:000,text:hello'],
    ['with semicolons and spaces', 'id:7; stat:DELIVRD; err:000;'],
    ['in lines', 'id:7\r\nstat:DELIVRD\r\nerr:000\r\n'],
    ['with a zero at the end', 'id:7 stat:DELIVRD\0'],
    ['with equal signs', 'id=7 stat=DELIVRD err=000'],
    ['with underscores', 'id:7 submit_date:2601021530 done_date:2601021531 stat:DELIVRD'],
    ['with fields of its own', 'id:7 network:41820 part:1 stat:DELIVRD err:000'],
    ['with long names', 'message_id:7 message_state:DELIVERED error_code:000'],
    ['with the name msgid', 'msgid:7 state:DELIVERED'],
    ['with the name status', 'message id:7 status:DELIVERED'],
    ['with the text in front', 'text:hello id:7 sub:001 stat:DELIVRD err:000'],
  ])('a receipt %s is read', (_, text) => {
    expect(read(text)).toEqual({ id: '7', receipt: DELIVERED });
  });

  it.each([
    'id',
    'messageid',
    'message id',
    'message_id',
    'message-id',
    'msgid',
    'msg id',
    'msg_id',
    'msg-id',
  ])('the id of a receipt may be written as %s', (name) => {
    expect(read(`stat:DELIVRD ${name}:7`)?.id).toBe('7');
  });

  it.each(['stat', 'state', 'status', 'messagestate', 'message state', 'message_state', 'message-state'])(
    'the state of a receipt may be written as %s',
    (name) => {
      expect(read(`id:7 ${name}:EXPIRED`)?.receipt.kind).toBe('failed');
    },
  );

  it.each([
    'err',
    'error',
    'errcode',
    'err code',
    'err_code',
    'err-code',
    'errorcode',
    'error code',
    'error_code',
    'error-code',
  ])('the error of a receipt may be written as %s', (name) => {
    expect(read(`id:7 stat:EXPIRED ${name}:5`)?.receipt).toEqual(
      failed('The SMSC reports EXPIRED with error 5'),
    );
  });

  it.each([
    'sub',
    'dlvrd',
    'submitdate',
    'submit date',
    'submit_date',
    'submit-date',
    'donedate',
    'done date',
    'done_date',
    'done-date',
    'text',
    'txt',
  ])('the field %s is not the value of an empty one before it', (name) => {
    expect(read(`id:7 stat:EXPIRED err: ${name}:5`)?.receipt).toEqual(failed('The SMSC reports EXPIRED'));
  });

  it('a field that is not read is no error of the receipt', () => {
    expect(read('id:7 sub:001 dlvrd:002 stat:UNDELIV err:011 text:hello')?.receipt).toEqual(
      failed('The SMSC reports UNDELIVERABLE with error 011'),
    );
  });

  it('a field whose name only ends alike is another field', () => {
    expect(read('id:7 stat:DELIVRD gid:8 smsc-id:9 laststate:EXPIRED')).toEqual({
      id: '7',
      receipt: DELIVERED,
    });
  });

  it.each([
    ['empty', ''],
    ['a message of a handset', 'Stop it, please'],
    ['without an id', 'sub:001 dlvrd:001 stat:DELIVRD err:000'],
    ['with an empty id', 'id: stat:DELIVRD err:000'],
    ['with an empty id before a comma', 'id:,7 stat:DELIVRD err:000'],
    ['with a sign before its state', 'id:7 stat:!DELIVRD'],
    ['with an absurd id', `id:${'1'.repeat(66)} stat:DELIVRD`],
    ['without a state', 'id:7 sub:001 dlvrd:001 err:000'],
    ['with an empty state', 'id:7 stat: err:000'],
    ['with an unknown state', 'id:7 stat:BLOCKED err:000'],
    ['with a number of no state', 'id:7 stat:9 err:000'],
    ['with the number 0', 'id:7 stat:0 err:000'],
    ['with fields behind the end that is read', `${'x'.repeat(1_000)} id:7 stat:DELIVRD`],
  ])('a receipt %s is not read', (_, text) => {
    expect(read(text)).toBeNull();
  });

  it('a receipt is not read from the words of the customer', () => {
    expect(read('id:7 stat:DELIVRD err:000 text:id:8 stat:REJECTD err:9')).toEqual({
      id: '7',
      receipt: DELIVERED,
    });
    expect(read('id:7 stat:DELIVRD err:000 id:8 stat:REJECTD')).toEqual({ id: '7', receipt: DELIVERED });
    expect(read('id:7 stat:UNDELIV err:012 Your code is err:9 stat:DELIVRD')).toEqual({
      id: '7',
      receipt: failed('The SMSC reports UNDELIVERABLE with error 012'),
    });
    expect(read('id:7 stat: err:000 Your code is stat:DELIVRD')).toBeNull();
    expect(read('id:7 err:000 text:stat:REJECTD')).toBeNull();
    expect(read('text:id:8 stat:REJECTD id:7 sub:001 stat:DELIVRD err:000')).toEqual({
      id: '7',
      receipt: DELIVERED,
    });
  });
});

describe('the states of receipts', () => {
  it.each(['DELIVRD', 'DELIVERED', 'DELIV', 'DELIVD', 'DELIVERD', 'DLVRD', 'delivrd', '2', '02', '002'])(
    'a message in the state %s is delivered',
    (state) => {
      expect(read(`id:7 stat:${state} err:000`)?.receipt).toEqual(DELIVERED);
    },
  );

  it.each([
    'ACCEPTD',
    'ACCPTD',
    'ACCEPTED',
    'ACCEP',
    'ENROUTE',
    'ENROUT',
    'EN_ROUTE',
    'UNKNOWN',
    'UNKN',
    '1',
    '6',
    '7',
  ])('a message in the state %s is sent', (state) => {
    expect(read(`id:7 stat:${state} err:000`)?.receipt).toEqual(SENT);
  });

  it.each([
    ['UNDELIV', 'UNDELIVERABLE'],
    ['UNDEL', 'UNDELIVERABLE'],
    ['UNDELIVERED', 'UNDELIVERABLE'],
    ['UNDLVRD', 'UNDELIVERABLE'],
    ['undeliv', 'UNDELIVERABLE'],
    ['EXPIRED', 'EXPIRED'],
    ['EXPIR', 'EXPIRED'],
    ['EXPIRED2', 'EXPIRED'],
    ['DELETED', 'DELETED'],
    ['DELET', 'DELETED'],
    ['REJECTD', 'REJECTED'],
    ['REJCT', 'REJECTED'],
    ['REJECTED', 'REJECTED'],
    ['FAILED', 'FAILED'],
    ['3', 'EXPIRED'],
    ['4', 'DELETED'],
    ['5', 'UNDELIVERABLE'],
    ['8', 'REJECTED'],
  ])('a message in the state %s failed as %s', (state, name) => {
    expect(read(`id:7 stat:${state}`)?.receipt).toEqual(failed(`The SMSC reports ${name}`));
  });

  it.each(['DELIVERY_FAILED', 'DELIVERYFAILED', 'NOTDELIVRD', 'XDELIVRD', 'DELAYED', 'DEL'])(
    'a message in the state %s is not taken for delivered',
    (state) => {
      expect(read(`id:7 stat:${state}`)).toBeNull();
    },
  );

  it.each([
    'NOUNDELIV',
    'UNEXPIRED',
    'NOTDELETED',
    'UNREJECTED',
    'NOTFAILED',
    'UNACCEPTABLE',
    'RE_ENROUTE',
    'NOT_UNKNOWN',
  ])('a message in the state %s is in none that is known', (state) => {
    expect(read(`id:7 stat:${state}`)).toBeNull();
  });

  it('a delivered message stays delivered with an error code', () => {
    expect(read('id:7 stat:DELIVRD err:075')?.receipt).toEqual(DELIVERED);
  });

  it.each([
    ['075', ' with error 075'],
    ['1F', ' with error 1F'],
    ['-5', ' with error -5'],
    ['E_ABSENT', ' with error E_ABSENT'],
    ['12345678901234', ' with error 1234567890'],
    ['000', ''],
    ['0', ''],
    ['', ''],
    ['!', ''],
    ['!5', ''],
  ])('the reason of a failure with the error code %j ends with %j', (code, end) => {
    expect(read(`id:7 stat:UNDELIV err:${code}`)?.receipt).toEqual(
      failed(`The SMSC reports UNDELIVERABLE${end}`),
    );
  });
});

describe('the parameters beside the text of a receipt', () => {
  it.each([
    [1, SENT],
    [2, DELIVERED],
    [3, failed('The SMSC reports EXPIRED')],
    [4, failed('The SMSC reports DELETED')],
    [5, failed('The SMSC reports UNDELIVERABLE')],
    [6, SENT],
    [7, SENT],
    [8, failed('The SMSC reports REJECTED')],
  ])('the message state %d alone says how a message is', (messageState, receipt) => {
    expect(read('', { receiptedMessageId: '00A1\0', messageState })).toEqual({ id: '00A1', receipt });
  });

  it('the parameters of a receipt come before its text, and the error is read from the text', () => {
    expect(read('id:7 stat:DELIVRD err:012', { receiptedMessageId: '8', messageState: 5 })).toEqual({
      id: '8',
      receipt: failed('The SMSC reports UNDELIVERABLE with error 012'),
    });
  });

  it.each([0, 9, -1, 1.5, Number.NaN, 255])('the unknown message state %d leaves it to the text', (state) => {
    expect(read('id:7 stat:DELIVRD', { messageState: state })?.receipt).toEqual(DELIVERED);
    expect(read('id:7', { messageState: state })).toBeNull();
  });

  it('one parameter and the text complete each other', () => {
    expect(read('stat:EXPIRED err:000', { receiptedMessageId: '8' })).toEqual({
      id: '8',
      receipt: failed('The SMSC reports EXPIRED'),
    });
    expect(read('id:7 err:000', { messageState: 2 })).toEqual({ id: '7', receipt: DELIVERED });
  });
});

it('the id of a receipt is the canonical id of the submit response', () => {
  const forms: MessageIdForms = { submitIds: 'hex', receiptIds: 'decimal' };
  expect(read('id:0972660181 stat:DELIVRD', {}, forms)?.id).toBe('972660181');
  expect(read('stat:DELIVRD', { receiptedMessageId: '39F99DD5' }, forms)?.id).toBe('972660181');
  expect(read('id:0972660181 stat:DELIVRD', { receiptedMessageId: '39F99DD5' }, forms)?.id).toBe('972660181');
  expect(read('id:0972660181 stat:DELIVRD', { receiptedMessageId: '972660181' }, forms)?.id).toBe(
    '972660181',
  );
});

it('no text makes the reading of a receipt fail, and no reason of a failure is long', () => {
  const pieces = fc.constantFrom(
    'id',
    'stat',
    'err',
    'text',
    ':',
    '=',
    ' ',
    '7',
    'DELIVRD',
    'UNDELIV',
    '\0',
    'é',
    '-',
  );
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
    fc.string({ unit: 'binary', maxLength: 1_200 }),
  );
  fc.assert(
    fc.property(
      texts,
      fc.option(fc.string()),
      fc.option(fc.integer()),
      (text, receiptedMessageId, messageState) => {
        const found = read(text, { receiptedMessageId, messageState });
        if (found?.receipt.kind === 'failed') expect(found.receipt.reason.length).toBeLessThan(60);
        if (found !== null) expect(found.id).toMatch(/^[ -~]{1,65}$/);
      },
    ),
    { numRuns: 1_000 },
  );
});

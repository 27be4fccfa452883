import { describe, expect, it } from 'vitest';
import { smppStatus } from '../../../src/domain/sms/smpp-status.ts';

/** At least four words before the name. */
const sentenceWith = (name: string) => new RegExp(`^The(?: \\w+){3,} \\(${name}\\)$`);

describe('the errors of an SMSC', () => {
  it.each([
    [0x03, 'ESME_RINVCMDID'],
    [0x04, 'ESME_RINVBNDSTS'],
    [0x05, 'ESME_RALYBND'],
    [0x08, 'ESME_RSYSERR'],
    [0x0d, 'ESME_RBINDFAIL'],
    [0x0e, 'ESME_RINVPASWD'],
    [0x0f, 'ESME_RINVSYSID'],
    [0x15, 'ESME_RINVSERTYP'],
    [0x45, 'ESME_RSUBMITFAIL'],
    [0x53, 'ESME_RINVSYSTYP'],
    [0x64, 'ESME_RX_T_APPN'],
  ])('the status %d, %s, says that the provider is busy', (code, name) => {
    expect(smppStatus(code)).toEqual({ class: 'busy', reason: expect.stringMatching(sentenceWith(name)) });
  });

  it.each([
    [0x14, 'ESME_RMSGQFUL'],
    [0x58, 'ESME_RTHROTTLED'],
  ])('the status %d, %s, says that the provider takes no more', (code, name) => {
    expect(smppStatus(code)).toEqual({
      class: 'throttled',
      reason: expect.stringMatching(sentenceWith(name)),
    });
  });

  it.each([
    [0x0a, 'ESME_RINVSRCADR'],
    [0x48, 'ESME_RINVSRCTON'],
    [0x49, 'ESME_RINVSRCNPI'],
  ])('the status %d, %s, is about the sender ID', (code, name) => {
    expect(smppStatus(code)).toEqual({ class: 'sender', reason: expect.stringMatching(sentenceWith(name)) });
  });

  it.each([
    [0x01, 'ESME_RINVMSGLEN'],
    [0x02, 'ESME_RINVCMDLEN'],
    [0x06, 'ESME_RINVPRTFLG'],
    [0x07, 'ESME_RINVREGDLVFLG'],
    [0x0b, 'ESME_RINVDSTADR'],
    [0x0c, 'ESME_RINVMSGID'],
    [0x11, 'ESME_RCANCELFAIL'],
    [0x13, 'ESME_RREPLACEFAIL'],
    [0x33, 'ESME_RINVNUMDESTS'],
    [0x34, 'ESME_RINVDLNAME'],
    [0x40, 'ESME_RINVDESTFLAG'],
    [0x42, 'ESME_RINVSUBREP'],
    [0x43, 'ESME_RINVESMCLASS'],
    [0x44, 'ESME_RCNTSUBDL'],
    [0x50, 'ESME_RINVDSTTON'],
    [0x51, 'ESME_RINVDSTNPI'],
    [0x54, 'ESME_RINVREPFLAG'],
    [0x55, 'ESME_RINVNUMMSGS'],
    [0x61, 'ESME_RINVSCHED'],
    [0x62, 'ESME_RINVEXPIRY'],
    [0x63, 'ESME_RINVDFTMSGID'],
    [0x65, 'ESME_RX_P_APPN'],
    [0x66, 'ESME_RX_R_APPN'],
    [0x67, 'ESME_RQUERYFAIL'],
    [0xc0, 'ESME_RINVOPTPARSTREAM'],
    [0xc1, 'ESME_ROPTPARNOTALLWD'],
    [0xc2, 'ESME_RINVPARLEN'],
    [0xc3, 'ESME_RMISSINGOPTPARAM'],
    [0xc4, 'ESME_RINVOPTPARAMVAL'],
    [0xfe, 'ESME_RDELIVERYFAILURE'],
    [0xff, 'ESME_RUNKNOWNERR'],
  ])('the status %d, %s, is about the message', (code, name) => {
    expect(smppStatus(code)).toEqual({ class: 'message', reason: expect.stringMatching(sentenceWith(name)) });
  });

  it('the reason of a status is a sentence with its name', () => {
    expect(smppStatus(0x58).reason).toBe('The SMSC takes no more messages in this second (ESME_RTHROTTLED)');
    expect(smppStatus(0x0b).reason).toBe('The SMSC does not take the phone number (ESME_RINVDSTADR)');
  });

  it.each([
    [0x400, '0x00000400'],
    [0x09, '0x00000009'],
    [0xffffffff, '0xffffffff'],
  ])('the unknown status %d is about the message, and its reason has the number %s', (code, number) => {
    expect(smppStatus(code)).toEqual({
      class: 'message',
      reason: `The SMSC rejects the message with the status ${number}`,
    });
  });
});

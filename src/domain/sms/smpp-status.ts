import type { RejectionClass } from '../providers/rejection-class.ts';

/** An error of an SMSC, with a reason for the trace of a message. None says that other channels cannot carry it either. */
export interface SmppStatus {
  readonly class: RejectionClass;
  readonly reason: string;
}

type Row = readonly [code: number, name: string, about: RejectionClass, reason: string];

/** The error codes of SMPP 3.4. */
const ROWS: readonly Row[] = [
  [0x01, 'ESME_RINVMSGLEN', 'message', 'The SMSC does not take a text of this length'],
  [0x02, 'ESME_RINVCMDLEN', 'message', 'The SMSC cannot read the length of the request'],
  [0x03, 'ESME_RINVCMDID', 'busy', 'The SMSC does not know the request'],
  [0x04, 'ESME_RINVBNDSTS', 'busy', 'The session with the SMSC may not submit'],
  [0x05, 'ESME_RALYBND', 'busy', 'The session with the SMSC is bound already'],
  [0x06, 'ESME_RINVPRTFLG', 'message', 'The SMSC does not take the priority'],
  [0x07, 'ESME_RINVREGDLVFLG', 'message', 'The SMSC does not take the request for delivery receipts'],
  [0x08, 'ESME_RSYSERR', 'busy', 'The SMSC has a system error'],
  [0x0a, 'ESME_RINVSRCADR', 'sender', 'The SMSC does not take the sender ID'],
  [0x0b, 'ESME_RINVDSTADR', 'message', 'The SMSC does not take the phone number'],
  [0x0c, 'ESME_RINVMSGID', 'message', 'The SMSC does not know the message id'],
  [0x0d, 'ESME_RBINDFAIL', 'busy', 'The SMSC rejects the session'],
  [0x0e, 'ESME_RINVPASWD', 'busy', 'The SMSC rejects the password'],
  [0x0f, 'ESME_RINVSYSID', 'busy', 'The SMSC rejects the system id'],
  [0x11, 'ESME_RCANCELFAIL', 'message', 'The SMSC cannot cancel the message'],
  [0x13, 'ESME_RREPLACEFAIL', 'message', 'The SMSC cannot replace the message'],
  [0x14, 'ESME_RMSGQFUL', 'throttled', 'The queue of the SMSC is full'],
  [0x15, 'ESME_RINVSERTYP', 'busy', 'The SMSC does not take the service type'],
  [0x33, 'ESME_RINVNUMDESTS', 'message', 'The SMSC does not take the number of recipients'],
  [0x34, 'ESME_RINVDLNAME', 'message', 'The SMSC does not know the distribution list'],
  [0x40, 'ESME_RINVDESTFLAG', 'message', 'The SMSC does not take the kind of recipient'],
  [0x42, 'ESME_RINVSUBREP', 'message', 'The SMSC does not take a submission that replaces another'],
  [0x43, 'ESME_RINVESMCLASS', 'message', 'The SMSC does not take the message class'],
  [0x44, 'ESME_RCNTSUBDL', 'message', 'The SMSC cannot submit to the distribution list'],
  [0x45, 'ESME_RSUBMITFAIL', 'busy', 'The SMSC cannot submit the message'],
  [0x48, 'ESME_RINVSRCTON', 'sender', 'The SMSC does not take the number type of the sender ID'],
  [0x49, 'ESME_RINVSRCNPI', 'sender', 'The SMSC does not take the numbering plan of the sender ID'],
  [0x50, 'ESME_RINVDSTTON', 'message', 'The SMSC does not take the type of the phone number'],
  [0x51, 'ESME_RINVDSTNPI', 'message', 'The SMSC does not take the numbering plan of the phone number'],
  [0x53, 'ESME_RINVSYSTYP', 'busy', 'The SMSC rejects the system type'],
  [0x54, 'ESME_RINVREPFLAG', 'message', 'The SMSC does not take the flag of replacement'],
  [0x55, 'ESME_RINVNUMMSGS', 'message', 'The SMSC does not take the number of messages'],
  [0x58, 'ESME_RTHROTTLED', 'throttled', 'The SMSC takes no more messages in this second'],
  [0x61, 'ESME_RINVSCHED', 'message', 'The SMSC does not take the time of delivery'],
  [0x62, 'ESME_RINVEXPIRY', 'message', 'The SMSC does not take the validity period'],
  [0x63, 'ESME_RINVDFTMSGID', 'message', 'The SMSC does not know the predefined message'],
  [0x64, 'ESME_RX_T_APPN', 'busy', 'The receiving application has an error for now'],
  [0x65, 'ESME_RX_P_APPN', 'message', 'The receiving application has an error that stays'],
  [0x66, 'ESME_RX_R_APPN', 'message', 'The receiving application rejects the message'],
  [0x67, 'ESME_RQUERYFAIL', 'message', 'The SMSC cannot tell of the message'],
  [0xc0, 'ESME_RINVOPTPARSTREAM', 'message', 'The SMSC cannot read the optional parameters'],
  [0xc1, 'ESME_ROPTPARNOTALLWD', 'message', 'The SMSC does not take an optional parameter'],
  [0xc2, 'ESME_RINVPARLEN', 'message', 'The SMSC does not take the length of a parameter'],
  [0xc3, 'ESME_RMISSINGOPTPARAM', 'message', 'The SMSC misses an optional parameter'],
  [0xc4, 'ESME_RINVOPTPARAMVAL', 'message', 'The SMSC does not take the value of an optional parameter'],
  [0xfe, 'ESME_RDELIVERYFAILURE', 'message', 'The SMSC cannot deliver the message'],
  [0xff, 'ESME_RUNKNOWNERR', 'message', 'The SMSC has an unknown error'],
];

const STATUSES: ReadonlyMap<number, SmppStatus> = new Map(
  ROWS.map(([code, name, about, reason]) => [code, { class: about, reason: `${reason} (${name})` }]),
);

/** What a `command_status` says that is not 0. A code that SMPP 3.4 does not have is about the message, and is in the reason. */
export function smppStatus(commandStatus: number): SmppStatus {
  return (
    STATUSES.get(commandStatus) ?? {
      class: 'message',
      reason: `The SMSC rejects the message with the status 0x${commandStatus.toString(16).padStart(8, '0')}`,
    }
  );
}

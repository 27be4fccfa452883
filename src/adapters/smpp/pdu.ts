/** SMPP names no limit. No PDU of an SMSC comes near this size, in octets. */
export const PDU_BYTES_MAX = 65_536;

/** The length, the command, the status and the number of a PDU, each in four octets. */
export const HEADER_BYTES = 16;
export const COMMAND_AT = 4;
export const STATUS_AT = 8;
export const SEQUENCE_AT = 12;

/** The commands of every message, which are written and read here. All others are left to the package. */
export const SUBMIT_SM = 0x0000_0004;
export const SUBMIT_SM_RESP = 0x8000_0004;
export const DELIVER_SM = 0x0000_0005;
export const DELIVER_SM_RESP = 0x8000_0005;

/** Every response has this bit of its command. */
export const RESPONSE_BIT = 0x8000_0000;

/** The values of `command_status` that this adapter sends or tells apart. */
export const ESME_ROK = 0x00;
export const ESME_RINVCMDID = 0x03;
export const ESME_RBINDFAIL = 0x0d;
export const ESME_RINVPASWD = 0x0e;
export const ESME_RINVSYSID = 0x0f;
/** The receiver of a `deliver_sm` cannot take it now: the SMSC brings it again. */
export const ESME_RX_T_APPN = 0x64;

/** Version 3.4. */
export const INTERFACE_VERSION = 0x34;

/** The body of a `deliver_sm`. */
export interface Delivery {
  readonly esmClass: number;
  /** Of `short_message`, or of `message_payload` when that is empty. */
  readonly octets: Buffer;
  /** Optional parameters; null when missing. */
  readonly receiptedMessageId: string | null;
  readonly messageState: number | null;
}

/** A PDU of the SMSC. */
export interface IncomingPdu {
  readonly isResponse: boolean;
  /** Its name in SMPP; `unknown` for a command id without one. */
  readonly command: string;
  readonly status: number;
  readonly sequence: number;
  /** Of a `submit_sm_resp`; else empty. */
  readonly messageId: string;
  /** Of a `deliver_sm` whose fields do not go past its end; else null. */
  readonly delivery: Delivery | null;
}

/** Whether the SMSC says that it could not read a PDU. */
export function isNack({ command }: IncomingPdu): boolean {
  return command === 'generic_nack';
}

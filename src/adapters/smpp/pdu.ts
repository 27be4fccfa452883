import smpp from 'smpp';

/** SMPP names no limit. No PDU of an SMSC comes near this size, in octets. */
export const PDU_BYTES_MAX = 65_536;

const HEADER_BYTES = 16;
const RESPONSE_BIT = 0x8000_0000;

/** The values of `command_status` that this adapter sends or tells apart. */
export const ESME_ROK = 0x00;
export const ESME_RINVCMDID = 0x03;
export const ESME_RBINDFAIL = 0x0d;
export const ESME_RINVPASWD = 0x0e;
export const ESME_RINVSYSID = 0x0f;
export const ESME_RMSGQFUL = 0x14;
export const ESME_RTHROTTLED = 0x58;
/** The receiver of a `deliver_sm` cannot take it now: the SMSC brings it again. */
export const ESME_RX_T_APPN = 0x64;

/** Version 3.4. */
export const INTERFACE_VERSION = 0x34;

/** The fields of a `submit_sm` that are not zero or empty. */
export interface SubmitFields {
  readonly source_addr_ton: number;
  readonly source_addr_npi: number;
  readonly source_addr: string;
  readonly dest_addr_ton: number;
  readonly dest_addr_npi: number;
  readonly destination_addr: string;
  readonly esm_class: number;
  readonly validity_period: string;
  readonly registered_delivery: number;
  readonly data_coding: number;
  readonly short_message: Buffer;
}

/** The body of a `deliver_sm`. */
export interface Delivery {
  readonly esmClass: number;
  readonly dataCoding: number;
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
  /** Whether a field goes past the end of the PDU; then its body is not read. */
  readonly isMalformed: boolean;
  /** Of a `submit_sm_resp`; else empty. */
  readonly messageId: string;
  /** Of a `deliver_sm`; else null. */
  readonly delivery: Delivery | null;
}

smpp.PDU.maxLength = PDU_BYTES_MAX;

// The package decodes texts by `data_coding` and times by the clock of this machine. A receipt is ASCII although its coding
// says GSM, and a time that cannot be read would spoil the whole PDU: both stay octets here.
const { int8, cstring, buffer, tlv } = smpp.types;
smpp.addCommand('deliver_sm', {
  id: 0x0000_0005,
  params: {
    service_type: { type: cstring },
    source_addr_ton: { type: int8 },
    source_addr_npi: { type: int8 },
    source_addr: { type: cstring },
    dest_addr_ton: { type: int8 },
    dest_addr_npi: { type: int8 },
    destination_addr: { type: cstring },
    esm_class: { type: int8 },
    protocol_id: { type: int8 },
    priority_flag: { type: int8 },
    schedule_delivery_time: { type: cstring },
    validity_period: { type: cstring },
    registered_delivery: { type: int8 },
    replace_if_present_flag: { type: int8 },
    data_coding: { type: int8 },
    sm_default_msg_id: { type: int8 },
    short_message: { type: buffer },
  },
});
smpp.addTLV('message_payload', { id: 0x0424, type: tlv.buffer });
smpp.addTLV('receipted_message_id', { id: 0x001e, type: tlv.buffer });

/** The octets of a PDU. `fields` are those of its body that are not zero or empty. */
export function encodePdu(
  command: string,
  sequence: number,
  fields: Readonly<Record<string, string | number | Buffer>> = {},
): Buffer {
  return new smpp.PDU(command, { ...fields, sequence_number: sequence }).toBuffer();
}

/** Reads a whole PDU of at least 16 octets. Never throws. */
export function decodePdu(octets: Buffer): IncomingPdu {
  const commandId = octets.readUInt32BE(4);
  const header = {
    isResponse: (commandId & RESPONSE_BIT) !== 0,
    status: octets.readUInt32BE(8),
    sequence: octets.readUInt32BE(12),
  };
  try {
    const pdu = new smpp.PDU(octets);
    return {
      ...header,
      command: pdu.command,
      isMalformed: false,
      messageId: textOf(pdu.message_id),
      delivery: pdu.command === 'deliver_sm' ? deliveryOf(pdu) : null,
    };
  } catch {
    // Its name comes from a PDU with the same header and no body, which every command can have.
    const bare = Buffer.from(octets.subarray(0, HEADER_BYTES));
    bare.writeUInt32BE(HEADER_BYTES, 0);
    const { command } = new smpp.PDU(bare);
    return { ...header, command, isMalformed: true, messageId: '', delivery: null };
  }
}

/** Whether the SMSC says that it could not read a PDU. */
export function isNack({ command }: IncomingPdu): boolean {
  return command === 'generic_nack';
}

function deliveryOf(pdu: Readonly<Record<string, unknown>>): Delivery {
  const message = octetsOf(pdu.short_message);
  const receipted = pdu.receipted_message_id;
  return {
    esmClass: numberOf(pdu.esm_class) ?? 0,
    dataCoding: numberOf(pdu.data_coding) ?? 0,
    octets: message.length > 0 ? message : octetsOf(pdu.message_payload),
    // A C-octet string with or without its end.
    receiptedMessageId: Buffer.isBuffer(receipted)
      ? receipted.toString('latin1').replace(/\0.*$/s, '')
      : null,
    messageState: numberOf(pdu.message_state),
  };
}

const textOf = (field: unknown): string => (typeof field === 'string' ? field : '');
const numberOf = (field: unknown): number | null => (typeof field === 'number' ? field : null);
const octetsOf = (field: unknown): Buffer => (Buffer.isBuffer(field) ? field : Buffer.alloc(0));

import smpp from 'smpp';
import type { Delivery } from '../../../src/adapters/smpp/pdu.ts';

// The package decodes texts and times of a `deliver_sm`; here they stay octets.
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

/** A PDU as the package writes it. */
export function packagedPdu(
  command: string,
  sequence: number,
  fields: Readonly<Record<string, string | number | Buffer>>,
): Buffer {
  return new smpp.PDU(command, { ...fields, sequence_number: sequence }).toBuffer();
}

/** A `deliver_sm` as the package reads it; null when it throws. */
export function packagedDelivery(octets: Buffer): Delivery | null {
  try {
    const pdu = new smpp.PDU(octets);
    const message = octetsOf(pdu.short_message);
    const receipted = pdu.receipted_message_id;
    return {
      esmClass: numberOf(pdu.esm_class) ?? 0,
      octets: message.length > 0 ? message : octetsOf(pdu.message_payload),
      receiptedMessageId: Buffer.isBuffer(receipted)
        ? receipted.toString('latin1').replace(/\0.*$/s, '')
        : null,
      messageState: numberOf(pdu.message_state),
    };
  } catch {
    return null;
  }
}

/** The id of a `submit_sm_resp` as the package reads it; empty when it has none. */
export function packagedMessageId(octets: Buffer): string {
  const { message_id: id } = new smpp.PDU(octets);
  return typeof id === 'string' ? id : '';
}

const numberOf = (field: unknown): number | null => (typeof field === 'number' ? field : null);
const octetsOf = (field: unknown): Buffer => (Buffer.isBuffer(field) ? field : Buffer.alloc(0));

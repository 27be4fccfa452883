import smpp from 'smpp';
import type { Delivery } from '../../../src/adapters/smpp/pdu.ts';
import { leaveUndecoded } from '../../support/undecoded-pdus.ts';

leaveUndecoded('deliver_sm');
smpp.addTLV('message_payload', { id: 0x0424, type: smpp.types.tlv.buffer });
smpp.addTLV('receipted_message_id', { id: 0x001e, type: smpp.types.tlv.buffer });

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

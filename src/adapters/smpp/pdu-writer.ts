import { type SmsEncoding, writePart } from '../../domain/sms/sms-parts.ts';
import {
  COMMAND_AT,
  DELIVER_SM_RESP,
  ESME_ROK,
  HEADER_BYTES,
  SEQUENCE_AT,
  STATUS_AT,
  SUBMIT_SM,
} from './pdu.ts';

/** The fields of a `submit_sm` that are not zero or empty. All texts are ASCII. */
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
  readonly short_message: ShortMessage;
}

/** At most 255 octets. */
export interface ShortMessage {
  /** What stands before the text; empty in a message of one part. */
  readonly header: readonly number[];
  readonly encoding: SmsEncoding;
  readonly text: string;
}

/** The PDUs of many rounds fit in it. */
const SLAB_BYTES = 16_384;

/** The fields of a `submit_sm` that have one octet, and the ends of its texts. */
const SUBMIT_OCTETS = 17;

/** Writes PDUs one behind another into one piece of memory, so that one write to the socket takes those that come together. */
export class PduWriter {
  #slab = Buffer.alloc(0);
  /** Where what was not taken begins and ends. */
  #from = 0;
  #at = 0;

  /** How many octets were not taken. */
  get length(): number {
    return this.#at - this.#from;
  }

  /** The octets since the last call. */
  take(): Buffer {
    const octets = this.#slab.subarray(this.#from, this.#at);
    this.#from = this.#at;
    return octets;
  }

  /** A PDU that is encoded already. */
  add(pdu: Buffer): void {
    this.#reserve(pdu.length);
    pdu.copy(this.#slab, this.#at);
    this.#at += pdu.length;
  }

  submit(sequence: number, fields: SubmitFields): void {
    const { source_addr, destination_addr, validity_period, short_message } = fields;
    const { header, encoding, text } = short_message;
    const textOctets = source_addr.length + destination_addr.length + validity_period.length;
    this.#reserve(HEADER_BYTES + SUBMIT_OCTETS + textOctets + header.length + 2 * text.length);
    const start = this.#begin(SUBMIT_SM, ESME_ROK, sequence);
    this.#octet(0); // service_type
    this.#octet(fields.source_addr_ton);
    this.#octet(fields.source_addr_npi);
    this.#text(source_addr);
    this.#octet(fields.dest_addr_ton);
    this.#octet(fields.dest_addr_npi);
    this.#text(destination_addr);
    this.#octet(fields.esm_class);
    this.#octet(0); // protocol_id
    this.#octet(0); // priority_flag
    this.#octet(0); // schedule_delivery_time
    this.#text(validity_period);
    this.#octet(fields.registered_delivery);
    this.#octet(0); // replace_if_present_flag
    this.#octet(fields.data_coding);
    this.#octet(0); // sm_default_msg_id
    const message = this.#at + 1;
    for (let index = 0; index < header.length; index += 1) this.#slab[message + index] = header[index] ?? 0;
    const end = writePart(encoding, text, this.#slab, message + header.length);
    this.#octet(end - message);
    this.#at = end;
    this.#slab.writeUInt32BE(end - start, start);
  }

  /** The response to a `deliver_sm`. It has a body only without an error, which is an empty id. */
  deliverResponse(sequence: number, status: number): void {
    this.#reserve(HEADER_BYTES + 1);
    const start = this.#begin(DELIVER_SM_RESP, status, sequence);
    if (status === ESME_ROK) this.#octet(0);
    this.#slab.writeUInt32BE(this.#at - start, start);
  }

  /** Writes a header without its length, and returns where it begins. */
  #begin(command: number, status: number, sequence: number): number {
    const start = this.#at;
    this.#slab.writeUInt32BE(command, start + COMMAND_AT);
    this.#slab.writeUInt32BE(status, start + STATUS_AT);
    this.#slab.writeUInt32BE(sequence, start + SEQUENCE_AT);
    this.#at = start + HEADER_BYTES;
    return start;
  }

  #octet(value: number): void {
    this.#slab[this.#at++] = value;
  }

  #text(ascii: string): void {
    const slab = this.#slab;
    let at = this.#at;
    for (let index = 0; index < ascii.length; index += 1) slab[at++] = ascii.charCodeAt(index);
    slab[at++] = 0;
    this.#at = at;
  }

  /** What was taken is on its way, so nothing is written over it. */
  #reserve(octets: number): void {
    if (this.#at + octets <= this.#slab.length) return;
    const waiting = this.take();
    this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, 2 * (waiting.length + octets)));
    waiting.copy(this.#slab);
    this.#from = 0;
    this.#at = waiting.length;
  }
}

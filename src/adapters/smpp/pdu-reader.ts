import { commandName } from './packaged-pdu.ts';
import {
  COMMAND_AT,
  DELIVER_SM,
  type Delivery,
  HEADER_BYTES,
  type IncomingPdu,
  RESPONSE_BIT,
  SEQUENCE_AT,
  STATUS_AT,
  SUBMIT_SM_RESP,
} from './pdu.ts';

const MESSAGE_PAYLOAD = 0x0424;
const RECEIPTED_MESSAGE_ID = 0x001e;
const MESSAGE_STATE = 0x0427;

/** The tag and the length of an optional parameter. */
const PARAMETER_HEAD_BYTES = 4;

/** Reads a whole PDU of at least 16 octets. Never throws. */
export function decodePdu(octets: Buffer): IncomingPdu {
  const commandId = octets.readUInt32BE(COMMAND_AT);
  return {
    isResponse: commandId >= RESPONSE_BIT,
    command: nameOf(commandId),
    status: octets.readUInt32BE(STATUS_AT),
    sequence: octets.readUInt32BE(SEQUENCE_AT),
    messageId: commandId === SUBMIT_SM_RESP ? readMessageId(octets) : '',
    delivery: commandId === DELIVER_SM ? readDelivery(octets) : null,
  };
}

function nameOf(commandId: number): string {
  if (commandId === SUBMIT_SM_RESP) return 'submit_sm_resp';
  return commandId === DELIVER_SM ? 'deliver_sm' : commandName(commandId);
}

/** The first field of a `submit_sm_resp`; empty when it is missing. */
function readMessageId(octets: Buffer): string {
  return octets.toString('latin1', HEADER_BYTES, endOfText(octets, HEADER_BYTES));
}

/**
 * The body of a `deliver_sm`; null when a number goes past its end. What an SMSC leaves out at the end is zero or empty, and a
 * text or octets without their end go to the end of the PDU.
 */
function readDelivery(octets: Buffer): Delivery | null {
  // Before each address stand its type and its plan.
  const source = afterText(octets, HEADER_BYTES) + 2;
  const destination = afterText(octets, source) + 2;
  const esmClass = afterText(octets, destination);
  const validity = afterText(octets, esmClass + 3);
  // Two octets about the registration, the alphabet, the number of a stored message, and the length.
  const message = afterText(octets, validity) + 5;
  const end = Math.min(message + octetAt(octets, message - 1), octets.length);
  const fields = {
    esmClass: octetAt(octets, esmClass),
    octets: octets.subarray(message, end),
    receiptedMessageId: null,
    messageState: null,
  };
  return octets.length - end < PARAMETER_HEAD_BYTES ? fields : withParameters(fields, octets, end);
}

function withParameters(delivery: Delivery, octets: Buffer, from: number): Delivery | null {
  let { octets: message, receiptedMessageId, messageState } = delivery;
  const isEmpty = message.length === 0;
  for (let at = from; at + PARAMETER_HEAD_BYTES <= octets.length; ) {
    const value = at + PARAMETER_HEAD_BYTES;
    const end = value + octets.readUInt16BE(at + 2);
    switch (octets.readUInt16BE(at)) {
      case MESSAGE_PAYLOAD:
        if (isEmpty) message = octets.subarray(value, end);
        break;
      case RECEIPTED_MESSAGE_ID:
        // A C-octet string with or without its end.
        receiptedMessageId = octets.toString('latin1', value, Math.min(endOfText(octets, value), end));
        break;
      case MESSAGE_STATE:
        if (value === end || value === octets.length) return null;
        messageState = octetAt(octets, value);
    }
    at = end;
  }
  return { ...delivery, octets: message, receiptedMessageId, messageState };
}

const octetAt = (octets: Buffer, at: number): number => octets[at] ?? 0;

/** The index of the zero that ends a text, or the end of the PDU. */
function endOfText(octets: Buffer, from: number): number {
  let at = from;
  while (at < octets.length && octets[at] !== 0) at += 1;
  return at;
}

const afterText = (octets: Buffer, from: number): number => endOfText(octets, from) + 1;

import smpp from 'smpp';
import { COMMAND_AT, HEADER_BYTES } from './pdu.ts';

/** The octets of a PDU. `fields` are those of its body that are not zero or empty. */
export function encodePdu(
  command: string,
  sequence: number,
  fields: Readonly<Record<string, string | number>> = {},
): Buffer {
  return new smpp.PDU(command, { ...fields, sequence_number: sequence }).toBuffer();
}

/** The name of a command in SMPP; `unknown` when it has none. */
export function commandName(commandId: number): string {
  // Every command may have no body.
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(HEADER_BYTES, 0);
  header.writeUInt32BE(commandId, COMMAND_AT);
  return new smpp.PDU(header).command;
}

/** What is used of the package `smpp`: the encoding of PDUs. Its connections are not used. */
declare module 'smpp' {
  interface FieldType {
    read(buffer: Buffer, offset: number, length?: number): unknown;
  }

  interface CommandDefinition {
    readonly id: number;
    readonly params: Readonly<Record<string, { readonly type: FieldType }>>;
  }

  class PDU {
    /** Reads a whole PDU; throws when a field goes past its end. A missing field stays undefined. */
    constructor(pdu: Buffer);
    /** A body is only written when `command_status` is 0 or missing. */
    constructor(command: string, fields: Readonly<Record<string, string | number | Buffer>>);
    /** A longer PDU is not read, in octets. */
    static maxLength: number;
    readonly command: string;
    readonly command_id: number;
    readonly command_status: number;
    readonly sequence_number: number;
    readonly [field: string]: unknown;
    toBuffer(): Buffer;
  }

  const smpp: {
    readonly PDU: typeof PDU;
    readonly types: {
      readonly int8: FieldType;
      readonly cstring: FieldType;
      readonly buffer: FieldType;
      readonly tlv: { readonly buffer: FieldType };
    };
    /** Replaces a command of the same name. */
    addCommand(command: string, definition: CommandDefinition): void;
    /** Replaces an optional parameter of the same name. */
    addTLV(name: string, definition: { readonly id: number; readonly type: FieldType }): void;
  };
  export default smpp;
}

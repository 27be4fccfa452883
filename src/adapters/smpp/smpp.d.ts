/**
 * What is used of the package `smpp`: the names of commands, and the PDUs that are not of every message. Its connections are not
 * used.
 */
declare module 'smpp' {
  export class PDU {
    /** Reads a whole PDU; throws when a number goes past its end. */
    constructor(pdu: Buffer);
    /** A body is only written when `command_status` is 0 or missing. */
    constructor(command: string, fields: Readonly<Record<string, string | number | Buffer>>);
    readonly command: string;
    toBuffer(): Buffer;
  }

  export interface Package {
    readonly PDU: typeof PDU;
  }

  const smpp: Package;
  export default smpp;
}

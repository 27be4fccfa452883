/** What benches and tests use of the package `smpp` and the service does not: its connections, and how it reads fields. */
declare module 'smpp' {
  interface FieldType {
    read(buffer: Buffer, offset: number, length?: number): unknown;
  }

  interface CommandDefinition {
    readonly id: number;
    readonly params: Readonly<Record<string, { readonly type: FieldType }>>;
  }

  export interface PDU {
    /** A missing field is undefined. */
    readonly [field: string]: unknown;
  }

  export interface Package {
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
  }

  type Fields = Readonly<Record<string, string | number | Buffer>>;

  /** One connection, of a client or of a server. */
  export interface Session {
    readonly socket: import('node:net').Socket;
    on(event: 'close', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    /** A PDU with the name of the event came. */
    on(
      event: 'bind_transceiver' | 'submit_sm' | 'deliver_sm' | 'enquire_link' | 'unbind',
      listener: (pdu: ReceivedPdu) => void,
    ): this;
    bind_transceiver(fields: Fields, responded: (response: ReceivedPdu) => void): boolean;
    submit_sm(fields: Fields, responded: (response: ReceivedPdu) => void): boolean;
    deliver_sm(fields: Fields, responded: (response: ReceivedPdu) => void): boolean;
    /** False when nothing can be written any more. */
    send(pdu: ResponsePdu): boolean;
    destroy(): void;
  }

  /** A PDU as it came. */
  export interface ReceivedPdu {
    readonly command_status: number;
    readonly [field: string]: unknown;
    /** The response to it. */
    response(fields?: Fields): ResponsePdu;
  }

  export interface ResponsePdu {
    readonly command_status: number;
  }

  export function connect(options: { readonly host: string; readonly port: number }): Session;
  export function createServer(accepted: (session: Session) => void): import('node:net').Server;
}

import type { Connection } from 'amqplib';

/** With the properties of a message. What a broker adds to them, such as where it was dead-lettered, is far shorter. */
const HEADER_FRAME_BYTES_MAX = 4_096;

/** The parts of an AMQP 0-9-1 frame that has the properties of a message. */
const HEADER_FRAME = 2;
const SIZE_AT = 3;
const FLAGS_AT = 19;
const FLAGS_BYTES = 2;

/** What amqplib's connection has beside its types: bytes that begin with a frame, and what takes one. */
interface FrameReader {
  readonly rest: Buffer;
  recvFrame(): unknown;
}

/**
 * Reads no properties of a message that has many. Anybody who may publish chooses its headers, and amqplib reads them before
 * anything else can: nested ones use up the stack, which ends the connection, and many take a tenth of a second.
 */
export function limitProperties(connection: Connection): void {
  const reader = connection as unknown as FrameReader;
  const receive = reader.recvFrame.bind(reader);
  // It calls itself again when more has come.
  reader.recvFrame = () => {
    dropLongProperties(reader.rest);
    return receive();
  };
}

/** Without its flags the message has none. */
function dropLongProperties(frame: Buffer): void {
  if (frame.length < FLAGS_AT + FLAGS_BYTES || frame[0] !== HEADER_FRAME) return;
  if (frame.readUInt32BE(SIZE_AT) > HEADER_FRAME_BYTES_MAX) frame.writeUInt16BE(0, FLAGS_AT);
}

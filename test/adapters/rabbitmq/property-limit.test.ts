import type { Connection } from 'amqplib';
import { expect, it } from 'vitest';
import { limitProperties } from '../../../src/adapters/rabbitmq/property-limit.ts';

const HEADER_FRAME = 2;
const BODY_FRAME = 3;
const HAS_HEADERS = 8_192;

/** A frame with so many bytes, whose first fourteen are those of the properties of a message with headers. */
function frameOf(type: number, bytes: number): Buffer {
  const frame = Buffer.alloc(7 + bytes + 1);
  frame[0] = type;
  frame.writeUInt32BE(bytes, 3);
  frame.writeUInt16BE(HAS_HEADERS, 19);
  return frame;
}

/** The flags in what a connection takes as its next frame, once it has the first bytes of it and then all. */
function flagsOf(frame: Buffer, firstBytes = frame.length): number {
  const connection = {
    rest: frame.subarray(0, firstBytes),
    recvFrame(): number {
      if (connection.rest.length === frame.length) return connection.rest.readUInt16BE(19);
      connection.rest = Buffer.concat([connection.rest, frame.subarray(firstBytes)]);
      return connection.recvFrame();
    },
  };
  limitProperties(connection as unknown as Connection);
  return connection.recvFrame() as number;
}

it('a message with more than 4 kB of properties is read without them', () => {
  expect(flagsOf(frameOf(HEADER_FRAME, 4_096))).toBe(HAS_HEADERS);
  expect(flagsOf(frameOf(HEADER_FRAME, 4_097))).toBe(0);
});

it.each([0, 6, 20, 21, 1_000])(
  'they are dropped also when the frame comes in pieces: %i bytes first',
  (bytes) => {
    expect(flagsOf(frameOf(HEADER_FRAME, 131_000), bytes)).toBe(0);
  },
);

it('the content of a message is read as it came', () => {
  expect(flagsOf(frameOf(BODY_FRAME, 131_000))).toBe(HAS_HEADERS);
});

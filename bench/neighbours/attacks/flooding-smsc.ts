import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { encodePdu } from '../../../src/adapters/smpp/packaged-pdu.ts';
import { COMMAND_AT, SEQUENCE_AT } from '../../../src/adapters/smpp/pdu.ts';
import { portOf } from '../../../test/support/port-of.ts';
import type { Target } from './target.ts';

const UNKNOWN_COMMAND = 0x99;
const ESM_CLASS_RECEIPT = 0x04;
/** PDUs of one kind that follow each other. */
const PDUS_PER_CHUNK = 4_000;
const RECEIPTS_PER_CHUNK = 1_000;

/** An SMSC that takes each bind, and when it is told to sends PDUs to all of them as fast as they are read. */
export class FloodingSmsc {
  readonly #connections = new Set<Socket>();
  readonly #server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bind: Buffer) => {
      socket.write(encodePdu('bind_transceiver_resp', bind.readUInt32BE(SEQUENCE_AT), {}));
      this.#connections.add(socket);
      socket.resume();
    });
    socket.on('close', () => this.#connections.delete(socket));
  });

  /** Resolves with its port. */
  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return portOf(this.#server);
  }

  /** Resolves with how many PDUs were sent. */
  async flood({ seconds }: Target): Promise<number> {
    const end = performance.now() + seconds * 1_000;
    const sent = await Promise.all([...this.#connections].map((socket) => floodOne(socket, end)));
    return sent.reduce((sum, count) => sum + count, 0);
  }
}

async function floodOne(socket: Socket, end: number): Promise<number> {
  const isOver = AbortSignal.timeout(Math.ceil(end - performance.now()));
  let sent = 0;
  while (!isOver.aborted && !socket.destroyed) {
    for (const { octets, count } of CHUNKS) {
      sent += count;
      if (!socket.write(octets)) await once(socket, 'drain', { signal: isOver }).catch(() => {});
    }
  }
  return sent;
}

const CHUNKS = [
  chunkOf(PDUS_PER_CHUNK, (sequence) => encodePdu('enquire_link', sequence, {})),
  chunkOf(PDUS_PER_CHUNK, unknownCommand),
  chunkOf(PDUS_PER_CHUNK, (sequence) => encodePdu('generic_nack', sequence, {})),
  chunkOf(RECEIPTS_PER_CHUNK, receiptOfNothing),
];

function chunkOf(count: number, make: (sequence: number) => Buffer) {
  return { octets: Buffer.concat(Array.from({ length: count }, (_, index) => make(index + 1))), count };
}

function unknownCommand(sequence: number): Buffer {
  const pdu = encodePdu('enquire_link', sequence, {});
  pdu.writeUInt32BE(UNKNOWN_COMMAND, COMMAND_AT);
  return pdu;
}

/** A receipt of a message that nobody sent. */
function receiptOfNothing(sequence: number): Buffer {
  const text = `id:${sequence.toString(16)} stat:DELIVRD err:000`;
  return encodePdu('deliver_sm', sequence, { esm_class: ESM_CLASS_RECEIPT, short_message: text });
}

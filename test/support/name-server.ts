import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_AAAA = 28;
const ANSWERED = 0x8180;
const NO_SUCH_NAME = 0x8183;
const TTL_SECONDS = 60;

/** `silent`: its questions are never answered. */
export type Zone = Readonly<
  Record<string, 'silent' | { readonly a?: readonly string[]; readonly aaaa?: readonly string[] | 'silent' }>
>;

/** A name server on loopback that knows the names of its zone, and counts what it is asked. */
export class NameServer {
  /** `name type`, in the order they came. */
  readonly questions: string[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(zone: Zone): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(socket);
    socket.on('message', (question, { port, address }) => {
      const answer = server.#answer(question, zone);
      if (answer !== null) socket.send(answer, port, address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return server;
  }

  /** As a resolver takes it. */
  get address(): string {
    const { address, port } = this.#socket.address() as AddressInfo;
    return `${address}:${port}`;
  }

  close(): void {
    this.#socket.close();
  }

  #answer(question: Buffer, zone: Zone): Buffer | null {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const end = at + 5;
    const type = question.readUInt16BE(at + 1);
    const name = labels.join('.').toLowerCase();
    this.questions.push(`${name} ${type === TYPE_A ? 'A' : 'AAAA'}`);
    const known = zone[name];
    if (known === 'silent') return null;
    const addresses = (type === TYPE_AAAA ? known?.aaaa : known?.a) ?? [];
    if (addresses === 'silent') return null;
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(known === undefined ? NO_SUCH_NAME : ANSWERED, 2);
    for (const [index, count] of [1, addresses.length, 0, 0].entries())
      header.writeUInt16BE(count, 4 + 2 * index);
    const records = addresses.map((address) => record(type, address));
    return Buffer.concat([header, question.subarray(HEADER_BYTES, end), ...records]);
  }
}

function record(type: number, address: string): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const fixed = Buffer.alloc(HEADER_BYTES);
  // The name of the question.
  fixed.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt32BE(TTL_SECONDS, 6);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([fixed, data]);
}

/** Of an address written in full. */
function ipv6Bytes(address: string): Buffer {
  return Buffer.from(
    address
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
}

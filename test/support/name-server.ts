import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_AAAA = 28;
const NO_ERROR = 0x8180;
const NO_SUCH_NAME = 0x8183;
const TTL_SECONDS = 60;

/** `silent`: queries get no response. */
export type Zone = Readonly<
  Record<string, 'silent' | { readonly a?: readonly string[]; readonly aaaa?: readonly string[] | 'silent' }>
>;

/** A name server on loopback that knows the names of its zone, and records its queries. */
export class NameServer {
  /** `name type`, in the order they came. */
  readonly queries: string[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(zone: Zone): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(socket);
    socket.on('message', (query, { port, address }) => {
      const response = server.#response(query, zone);
      if (response !== null) socket.send(response, port, address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return server;
  }

  /** In the form that a resolver takes. */
  get address(): string {
    const { address, port } = this.#socket.address() as AddressInfo;
    return `${address}:${port}`;
  }

  close(): void {
    this.#socket.close();
  }

  #response(query: Buffer, zone: Zone): Buffer | null {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const end = at + 5;
    const type = query.readUInt16BE(at + 1);
    const name = labels.join('.').toLowerCase();
    this.queries.push(`${name} ${type === TYPE_A ? 'A' : 'AAAA'}`);
    const known = zone[name];
    if (known === 'silent') return null;
    const addresses = (type === TYPE_AAAA ? known?.aaaa : known?.a) ?? [];
    if (addresses === 'silent') return null;
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(known === undefined ? NO_SUCH_NAME : NO_ERROR, 2);
    for (const [index, count] of [1, addresses.length, 0, 0].entries())
      header.writeUInt16BE(count, 4 + 2 * index);
    const records = addresses.map((address) => record(type, address));
    return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records]);
  }
}

function record(type: number, address: string): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const fixed = Buffer.alloc(HEADER_BYTES);
  // A pointer to the name of the query.
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

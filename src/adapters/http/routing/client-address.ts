import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { unmapped } from './ip-allow-list.ts';

/** One IPv6 network of this size is usually one customer, who may use every address in it. */
const IPV6_NETWORK_BITS = 64;
const IPV6_NETWORK_BYTES = IPV6_NETWORK_BITS / 8;

/** The address of the client that a request comes from; undefined when its connection is gone already. */
export function clientAddressOf(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress;
}

/** What an address counts as in limits by address: itself, or the first 64 bits when it is IPv6. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? '';
  const plain = unmapped(address);
  if (!plain.includes(':') || !ipaddr.isValid(plain)) return plain;
  const prefix = ipaddr.parse(plain).toByteArray().slice(0, IPV6_NETWORK_BYTES);
  return `${Buffer.from(prefix).toString('hex')}/${IPV6_NETWORK_BITS}`;
}

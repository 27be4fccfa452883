import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { remembered } from '../../../application/remembered.ts';
import { isListed, unmapped } from './ip-allow-list.ts';

/** One IPv6 network of this size is usually one customer, who may use every address in it. */
const IPV6_NETWORK_BITS = 64;
/** One customer may have as many such networks as are in one of this size. */
const IPV6_SITE_BITS = 48;

/** Addresses whose network is remembered: to work it out costs microseconds, with each request. */
const ADDRESSES_REMEMBERED_MAX = 1_000;

const WITH_BRACKETS_PATTERN = /^\[([^\]]+)\](?::[0-9]{1,5})?$/;
const IPV4_WITH_PORT_PATTERN = /^([0-9.]+):[0-9]{1,5}$/;

/** The address of the client that a request comes from; undefined when its connection is gone already. */
export type ClientAddress = (request: IncomingMessage) => string | undefined;

/**
 * How the client's address is found behind these proxies: addresses or ranges, none by default. Only what a trusted proxy
 * wrote into X-Forwarded-For counts: it is read from the right, up to the first address that is not trusted.
 */
export function clientAddressBehind(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress;
  const isTrusted = remembered(ADDRESSES_REMEMBERED_MAX, (address: string) =>
    isListed(trustedProxies, address),
  );
  return ({ socket: { remoteAddress: peer }, headers }) => {
    const forwarded = headers['x-forwarded-for'];
    if (peer === undefined || typeof forwarded !== 'string' || !isTrusted(peer)) return peer;
    return firstUntrusted(forwarded, peer, isTrusted);
  };
}

/** The proxy that wrote an entry which cannot be read stands for its client. */
function firstUntrusted(forwarded: string, peer: string, isTrusted: (address: string) => boolean): string {
  let client = peer;
  let end = forwarded.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : forwarded.lastIndexOf(',', end - 1);
    const hop = addressIn(forwarded.slice(comma + 1, end));
    if (hop === null) return client;
    client = hop;
    if (!isTrusted(hop)) return client;
    end = comma;
  }
  return client;
}

/** The address in an entry, which some proxies write with brackets or with a port. */
function addressIn(entry: string): string | null {
  const text = entry.trim();
  if (isIP(text) !== 0) return text;
  const address = (WITH_BRACKETS_PATTERN.exec(text) ?? IPV4_WITH_PORT_PATTERN.exec(text))?.[1] ?? '';
  return isIP(address) === 0 ? null : address;
}

/** What an address counts as in limits by address: itself, or the first 64 bits when it is IPv6. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? '';
  return ipv6Network(address);
}

/** The same in the table of connections: the address itself, or the first 48 bits when it is IPv6. */
export function siteOf(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? '';
  return ipv6Site(address);
}

const ipv6Network = ipv6Prefix(IPV6_NETWORK_BITS);
const ipv6Site = ipv6Prefix(IPV6_SITE_BITS);

function ipv6Prefix(bits: number): (address: string) => string {
  return remembered(ADDRESSES_REMEMBERED_MAX, (address: string) => {
    const plain = unmapped(address);
    if (!plain.includes(':') || !ipaddr.isValid(plain)) return plain;
    const prefix = ipaddr
      .parse(plain)
      .toByteArray()
      .slice(0, bits / 8);
    return `${Buffer.from(prefix).toString('hex')}/${bits}`;
  });
}

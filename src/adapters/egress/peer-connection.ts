import { lookup as lookupBySystem } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { type LookupAll, lookupFunction, nameLookup } from './name-lookup.ts';

/** Of an idle connection, in milliseconds. */
export const TCP_KEEP_ALIVE_DELAY_MS = 60_000;

/** As the system finds names: of those in a network of containers most are completed by a domain of its file. */
const peerLookup = nameLookup({
  resolverFile: '/etc/resolv.conf',
  system: (name) => lookupBySystem(name, { all: true }),
});

/** Where a peer is whose address an operator chose. */
export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a TCP connection to a provider or another peer that an operator chose. The socket emits `connect`, or `error`. A name
 * whose name server is silent keeps no other peer waiting; names that only the system finds wait for each other.
 */
export function connectPeer({ host, port }: PeerAddress, lookup: LookupAll = peerLookup): Socket {
  return connect({
    host,
    port,
    lookup: lookupFunction(lookup),
    autoSelectFamily: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS,
  });
}

import { lookup as lookupBySystem } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { type LookupAll, lookupFunction, nameLookup } from './name-lookup.ts';

const KEEP_ALIVE_DELAY_MS = 60_000;

const peerLookup = nameLookup({ system: (name) => lookupBySystem(name, { all: true }) });

/** Where a peer is whose address an operator chose. */
export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a TCP connection to a provider or another peer that an operator chose. The socket emits `connect`, or `error`. A name
 * whose name server is silent keeps no other peer waiting.
 */
export function connectPeer({ host, port }: PeerAddress, lookup: LookupAll = peerLookup): Socket {
  return connect({
    host,
    port,
    lookup: lookupFunction(lookup),
    autoSelectFamily: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS,
  });
}

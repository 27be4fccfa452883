import { connectPeer } from '../../src/adapters/egress/peer-connection.ts';
import { PeerTime, PROVIDER_SHARES } from '../../src/adapters/egress/tls/peer-time.ts';
import { type TlsAddress, timedTls } from '../../src/adapters/egress/tls/timed-tls.ts';

/** TLS as the service makes it with providers. */
export const providerTls = timedTls(new PeerTime(PROVIDER_SHARES));

/** The same for a peer that one test knows. */
export const connectTls = (address: TlsAddress) => providerTls('peer', address);

/** Connections to it as the service opens them. */
export const peerConnections = { connectTcp: connectPeer, connectTls };

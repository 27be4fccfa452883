import { PeerTime, PROVIDER_SHARES } from '../../src/adapters/undici/peer-time.ts';
import { timedTls } from '../../src/adapters/undici/timed-tls.ts';

/** TLS as the service makes it with providers. */
export const providerTls = timedTls(new PeerTime(PROVIDER_SHARES));

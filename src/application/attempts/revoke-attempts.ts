import type { BackgroundWork } from '../concurrency/background-work.ts';
import type { ChannelProviders } from '../ports/channel-provider.ts';
import type { PendingRevocation } from './advance-messages.ts';

interface RevokePorts {
  readonly channelProviders: Pick<ChannelProviders, 'live'>;
  readonly background: BackgroundWork;
}

/**
 * Asks channel providers to take back the attempts that the chains gave up on. A provider may fail to do it: no message waits for
 * it or changes by it.
 */
export class RevokeAttempts {
  readonly #ports: RevokePorts;

  constructor(ports: RevokePorts) {
    this.#ports = ports;
  }

  /**
   * Begins in the background and returns at once; call it after the commit. Every provider of the channel that can revoke gets
   * all ids. An id begins with the name of its provider, and each provider passes over the ids of others.
   */
  start(revocations: readonly PendingRevocation[]): void {
    if (revocations.length === 0) return;
    const { channelProviders, background } = this.#ports;
    for (const { channel, provider } of channelProviders.live()) {
      if (provider.revoke === undefined) continue;
      const ids = revocations.flatMap((each) => (each.channel === channel ? each.providerMessageIds : []));
      if (ids.length > 0) background.start(async () => provider.revoke?.(ids));
    }
  }
}

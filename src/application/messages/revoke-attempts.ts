import type { BackgroundWork } from '../background-work.ts';
import type { ChannelProvider, ChannelProviders } from '../ports/channel-provider.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { PendingRevocation } from './advance-messages.ts';

interface RevokePorts {
  readonly unitOfWork: UnitOfWork;
  readonly channelProviders: ChannelProviders;
  readonly background: BackgroundWork;
}

/** Asks channel providers to take back what the chains gave up on. Only a try: no message waits for it or changes by it. */
export class RevokeAttempts {
  readonly #ports: RevokePorts;

  constructor(ports: RevokePorts) {
    this.#ports = ports;
  }

  /**
   * Begins in the background and returns at once; call it after the commit. Every provider of a message's route that can
   * revoke gets the ids: which of them carried the message is not known here, and each passes over the ids of others.
   */
  start(revocations: readonly PendingRevocation[]): void {
    if (revocations.length === 0) return;
    const revocable = this.#revocableChannels();
    const possible = revocations.filter(({ channel }) => revocable.has(channel));
    if (possible.length > 0) this.#ports.background.start(() => this.#revoke(possible));
  }

  async #revoke(revocations: readonly PendingRevocation[]): Promise<void> {
    const { unitOfWork, channelProviders } = this.#ports;
    const projectIds = [...new Set(revocations.map(({ projectId }) => projectId))];
    const projects = await unitOfWork.read((stores) => stores.projects.byIds(projectIds));
    const environments = new Map(projects.map(({ id, environment }) => [id, environment]));
    const idsByProvider = new Map<ChannelProvider, string[]>();
    for (const { projectId, channel, phoneNumber, providerMessageIds } of revocations) {
      const environment = environments.get(projectId);
      if (environment === undefined) continue;
      for (const provider of channelProviders.route(channel, environment, phoneNumber)) {
        const ids = idsByProvider.get(provider) ?? [];
        ids.push(...providerMessageIds);
        idsByProvider.set(provider, ids);
      }
    }
    await Promise.all([...idsByProvider].map(([provider, ids]) => provider.revoke?.(ids)));
  }

  /** Most channels have no provider that revokes: their chains then cost nothing more. */
  #revocableChannels() {
    const live = this.#ports.channelProviders.live();
    return new Set(live.flatMap(({ channel, provider }) => (provider.revoke === undefined ? [] : [channel])));
  }
}

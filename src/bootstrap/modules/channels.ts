import { ContainerModule } from 'inversify';
import { ResponseRounds } from '../../adapters/egress/providers/response-rounds.ts';
import { UndiciProviderHttp } from '../../adapters/egress/providers/undici-provider-http.ts';
import { PeerTime, PROVIDER_SHARES } from '../../adapters/egress/tls/peer-time.ts';
import { timedTls } from '../../adapters/egress/tls/timed-tls.ts';
import { type SimulatedMessage, Simulator } from '../../adapters/simulator/simulator.ts';
import type { ChannelProvider, ChannelProviders } from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { EventLoop } from '../../application/ports/event-loop.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { ProviderCallbacks } from '../../application/ports/provider-callback.ts';
import type { UnitOfWork } from '../../application/ports/unit-of-work.ts';
import type { WhatsappDirectory } from '../../application/ports/whatsapp-directory.ts';
import { GuardedProvider } from '../../application/providers/guarded-provider.ts';
import { withPrefixedEvents, withPrefixedIds } from '../../application/providers/provider-ids.ts';
import { StoredWhatsappDirectory } from '../../application/whatsapp/stored-whatsapp-directory.ts';
import { providersFor } from '../../domain/providers/provider-route.ts';
import { CHANNELS } from '../../domain/shared/channel.ts';
import type { Hmac } from '../../domain/webhooks/signer.ts';
import type { ChannelsConfig } from '../config/channels-file.ts';
import type { LiveProvider, ProviderTools } from '../providers/provider-kind.ts';
import { adapters, ports } from '../tokens.ts';

export interface ChannelsOptions {
  readonly onSubmission?: (message: SimulatedMessage) => void;
  /** Put around each provider, inside its circuit. */
  readonly decorate?: (provider: ChannelProvider) => ChannelProvider;
}

/** The providers of live projects as they are configured; every channel of dev projects is on the simulator. */
export const channels = (
  config: ChannelsConfig,
  { onSubmission = () => {}, decorate = (provider) => provider }: ChannelsOptions = {},
) =>
  new ContainerModule(({ bind }) => {
    bind(adapters.simulator).toResolvedValue(
      (clock: Clock, logger: Logger) => new Simulator({ clock, logger, onSubmission }),
      [ports.clock, ports.logger],
    );
    bind(adapters.simulatorProvider).toResolvedValue(
      (simulator: Simulator) => decorate(simulator),
      [adapters.simulator],
    );
    bind(adapters.liveProviders).toResolvedValue(
      (
        simulator: ChannelProvider,
        clock: Clock,
        eventLoop: EventLoop,
        logger: Logger,
        hmac: Hmac,
        whatsappDirectory: WhatsappDirectory,
      ) => liveProviders(config, simulator, { clock, eventLoop, logger, hmac, whatsappDirectory, decorate }),
      [
        adapters.simulatorProvider,
        ports.clock,
        ports.eventLoop,
        ports.logger,
        ports.hmac,
        ports.whatsappDirectory,
      ],
    );
    bind(ports.channelProviders).toResolvedValue(
      (simulator: ChannelProvider, live: readonly LiveProvider[]) =>
        channelProviders(config, simulator, live),
      [adapters.simulatorProvider, adapters.liveProviders],
    );
    bind(ports.providerCallbacks).toResolvedValue(
      (live: readonly LiveProvider[]): ProviderCallbacks => ({
        of: (name) => live.find(({ provider }) => provider.name === name)?.callback ?? null,
      }),
      [adapters.liveProviders],
    );
    bind(ports.whatsappPlatforms).toResolvedValue(
      (live: readonly LiveProvider[]) =>
        live.flatMap(({ whatsappPlatform }) => (whatsappPlatform === null ? [] : [whatsappPlatform])),
      [adapters.liveProviders],
    );
    bind(ports.whatsappDirectory).toResolvedValue(
      (unitOfWork: UnitOfWork, clock: Clock) => new StoredWhatsappDirectory({ unitOfWork, clock }),
      [ports.unitOfWork, ports.clock],
    );
    bind(ports.providerEvents).toResolvedValue((simulator: Simulator) => simulator, [adapters.simulator]);
  });

type SharedTools = Omit<ProviderTools, 'name' | 'http' | 'timedTls'> &
  Pick<Required<ChannelsOptions>, 'decorate'>;

function liveProviders(
  config: ChannelsConfig,
  simulator: ChannelProvider,
  { decorate, ...tools }: SharedTools,
): readonly LiveProvider[] {
  const responses = new ResponseRounds();
  const peerTime = new PeerTime(PROVIDER_SHARES);
  return CHANNELS.flatMap((channel) =>
    (config[channel]?.providers ?? []).map((each): LiveProvider => {
      const { name, make } = each;
      if (make === null) return { channel, provider: simulator, callback: null, whatsappPlatform: null };
      const http = () => new UndiciProviderHttp({ name, responses, peerTime });
      const made = make({ ...tools, name, http, timedTls: timedTls(peerTime) });
      const { callback, whatsappPlatform } = made;
      const provider = decorate(made.provider);
      return {
        channel,
        provider: withPrefixedIds(
          new GuardedProvider({ provider, clock: tools.clock, logger: tools.logger }),
        ),
        callback: callback === null ? null : withPrefixedEvents(name, callback),
        whatsappPlatform,
      };
    }),
  );
}

function channelProviders(
  config: ChannelsConfig,
  simulator: ChannelProvider,
  live: readonly LiveProvider[],
): ChannelProviders {
  const byName = new Map(live.map(({ provider }) => [provider.name, provider]));
  const onlySimulator = [simulator];
  return {
    route(channel, environment, phoneNumber) {
      if (environment === 'dev') return onlySimulator;
      return providersFor(config[channel]?.routes ?? [], phoneNumber).flatMap((name) => {
        const provider = byName.get(name);
        return provider === undefined ? [] : [provider];
      });
    },
    channelsFor: (environment) =>
      CHANNELS.filter((channel) => environment === 'dev' || config[channel] !== null),
    live: () => live,
    all: () => [...new Set([simulator, ...live.map(({ provider }) => provider)])],
  };
}

import { ContainerModule } from 'inversify';
import { type SimulatedMessage, Simulator } from '../../adapters/simulator/simulator.ts';
import { timedTimeout } from '../../adapters/timer/timed-timeout.ts';
import {
  type ChannelProvider,
  type ChannelProviders,
  SUBMIT_TIMEOUT_MS,
} from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Environment } from '../../domain/access/project.ts';
import { CHANNELS, type Channel } from '../../domain/shared/channel.ts';
import type { ProviderConfig, ProvidersConfig } from '../config.ts';
import { adapters, ports } from '../tokens.ts';

/** The providers of live projects as they are configured; every channel of dev projects is on the simulator. */
export const channels = (
  providers: ProvidersConfig,
  onSubmission: (message: SimulatedMessage) => void = () => {},
) =>
  new ContainerModule(({ bind }) => {
    bind(adapters.simulator).toResolvedValue(
      (clock: Clock, logger: Logger) => new Simulator({ clock, logger, onSubmission }),
      [ports.clock, ports.logger],
    );
    bind(ports.channelProviders).toResolvedValue(
      (simulator: Simulator): ChannelProviders => {
        const live = new Map<Channel, ChannelProvider>();
        for (const channel of CHANNELS) {
          const config = providers[channel];
          if (config !== null) live.set(channel, providerFrom(config, simulator));
        }
        const of = (channel: Channel, environment: Environment) =>
          environment === 'dev' ? simulator : (live.get(channel) ?? null);
        return {
          of,
          channelsFor: (environment) => CHANNELS.filter((channel) => of(channel, environment) !== null),
          all: () => [...new Set([simulator, ...live.values()])],
        };
      },
      [adapters.simulator],
    );
    bind(ports.submitTimeout).toConstantValue(timedTimeout(SUBMIT_TIMEOUT_MS));
    bind(ports.providerEvents).toResolvedValue((simulator: Simulator) => simulator, [adapters.simulator]);
  });

/** The provider of one channel: a new kind gets its adapter here. */
function providerFrom(config: ProviderConfig, simulator: Simulator): ChannelProvider {
  switch (config.kind) {
    case 'simulator':
      return simulator;
    default:
      return config.kind satisfies never;
  }
}

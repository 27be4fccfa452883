import { ContainerModule } from 'inversify';
import { type SimulatedMessage, Simulator } from '../../adapters/simulator/simulator.ts';
import { timedTimeout } from '../../adapters/timer/timed-timeout.ts';
import { SUBMIT_TIMEOUT_MS } from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { CHANNELS } from '../../domain/shared/channel.ts';
import { adapters, ports } from '../tokens.ts';

/** Every channel on the simulator; its events come due inside the process. */
export const channels = (onSubmission: (message: SimulatedMessage) => void = () => {}) =>
  new ContainerModule(({ bind }) => {
    bind(adapters.simulator).toResolvedValue(
      (clock: Clock, logger: Logger) => new Simulator({ clock, logger, onSubmission }),
      [ports.clock, ports.logger],
    );
    bind(ports.channelProviders).toResolvedValue(
      (simulator: Simulator) => ({
        of: () => simulator,
        channelsFor: () => CHANNELS,
        all: () => [simulator],
      }),
      [adapters.simulator],
    );
    bind(ports.submitTimeout).toConstantValue(timedTimeout(SUBMIT_TIMEOUT_MS));
    bind(ports.providerEvents).toResolvedValue((simulator: Simulator) => simulator, [adapters.simulator]);
  });

import { ContainerModule } from 'inversify';
import { type SimulatedMessage, Simulator } from '../../adapters/simulator/simulator.ts';
import { timedTimeout } from '../../adapters/timer/timed-timeout.ts';
import { SUBMIT_TIMEOUT_MS } from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import { CHANNELS } from '../../domain/shared/channel.ts';
import { adapters, ports } from '../tokens.ts';

/** Every channel on the simulator; it is also the only source of news inside the process. */
export const channels = (onSubmission: (message: SimulatedMessage) => void = () => {}) =>
  new ContainerModule(({ bind }) => {
    bind(adapters.simulator).toResolvedValue(
      (clock: Clock) => new Simulator({ clock, onSubmission }),
      [ports.clock],
    );
    bind(ports.channelProviders).toResolvedValue(
      (simulator: Simulator) => ({ of: () => simulator, channelsFor: () => CHANNELS }),
      [adapters.simulator],
    );
    bind(ports.submitTimeout).toConstantValue(timedTimeout(SUBMIT_TIMEOUT_MS));
    bind(ports.providerEvents).toResolvedValue((simulator: Simulator) => simulator, [adapters.simulator]);
  });

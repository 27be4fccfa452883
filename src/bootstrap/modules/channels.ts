import { ContainerModule } from 'inversify';
import { SimulatedCarriers, type SimulatedMessage } from '../../adapters/simulator/simulated-carriers.ts';
import type { Clock } from '../../application/ports/clock.ts';
import { adapters, ports } from '../tokens.ts';

/** Every channel on the simulator; it is also the only source of news inside the process. */
export const channels = (onSubmission: (message: SimulatedMessage) => void = () => {}) =>
  new ContainerModule(({ bind }) => {
    bind(adapters.simulator).toResolvedValue(
      (clock: Clock) => new SimulatedCarriers({ clock, onSubmission }),
      [ports.clock],
    );
    bind(ports.channelProviders).toResolvedValue(
      (simulator: SimulatedCarriers) => ({ of: () => simulator }),
      [adapters.simulator],
    );
    bind(ports.carrierNews).toResolvedValue(
      (simulator: SimulatedCarriers) => simulator,
      [adapters.simulator],
    );
  });

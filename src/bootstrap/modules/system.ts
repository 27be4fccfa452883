import { ContainerModule } from 'inversify';
import { AesSecretBox } from '../../adapters/node/aes-secret-box.ts';
import { HmacKeyHasher } from '../../adapters/node/hmac-key-hasher.ts';
import { HmacRequestHasher } from '../../adapters/node/hmac-request-hasher.ts';
import { nodeHmac } from '../../adapters/node/node-hmac.ts';
import { RandomIdSource } from '../../adapters/node/random-id-source.ts';
import { LocalWakeSignal } from '../../adapters/timer/local-wake-signal.ts';
import { NodeEventLoop } from '../../adapters/timer/node-event-loop.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { adapters, ports } from '../tokens.ts';

export interface SystemParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly secretKey: Buffer;
  /** Whether campaigns keep the sending rate and the daily limit of the platform; true by default. */
  readonly keepsPlatformLimits?: boolean;
}

/** Time, the event loop, chance, secrets and the log. */
export const system = ({ clock, logger, secretKey, keepsPlatformLimits = true }: SystemParts) =>
  new ContainerModule(({ bind }) => {
    bind(ports.clock).toConstantValue(clock);
    bind(ports.eventLoop).toConstantValue(new NodeEventLoop());
    bind(ports.logger).toConstantValue(logger);
    const ids = new RandomIdSource();
    bind(ports.idSource).toConstantValue(ids);
    bind(ports.workerId).toConstantValue(ids.hex24(clock.now()));
    bind(ports.keyHasher).toConstantValue(new HmacKeyHasher({ secretKey }));
    bind(ports.requestHasher).toConstantValue(new HmacRequestHasher({ secretKey }));
    bind(ports.secretBox).toConstantValue(new AesSecretBox({ secretKey }));
    bind(ports.hmac).toConstantValue(nodeHmac);
    bind(ports.keepsPlatformLimits).toConstantValue(keepsPlatformLimits);
    bind(adapters.localWakeSignal).toConstantValue(new LocalWakeSignal());
    bind(ports.wakeSignal).toResolvedValue(
      (localWakeSignal: LocalWakeSignal) => localWakeSignal,
      [adapters.localWakeSignal],
    );
  });

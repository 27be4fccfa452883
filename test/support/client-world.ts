import type { Harness, HarnessOptions } from '../../src/bootstrap/harness/harness.ts';
import { type BaridClient, type BaridClientOptions, createBaridClient } from '../../src/client/client.ts';
import { startService } from './running-service.ts';

export interface ClientWorld {
  readonly service: Harness;
  readonly client: BaridClient;
  /** Every wait of the client, in milliseconds; each moved the clock of the service. */
  readonly delays: readonly number[];
}

/** A service and a client of it, whose waits move the clock of the service. */
export async function startWithClient(
  options: Partial<BaridClientOptions> = {},
  harness: HarnessOptions = {},
): Promise<ClientWorld> {
  const service = await startService(harness);
  const delays: number[] = [];
  const client = createBaridClient({
    baseUrl: await service.url,
    apiKey: service.apiKey,
    clock: {
      now: () => service.now().getTime(),
      delay: async (ms) => {
        delays.push(ms);
        await service.advance(Math.ceil(ms));
      },
    },
    ...options,
  });
  return { service, client, delays };
}

/** What a call rejects with; throws when it does not reject. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    () => ({ error: undefined, isRejected: false }),
    (error: unknown) => ({ error, isRejected: true }),
  );
  if (!outcome.isRejected) throw new Error('The call was expected to reject');
  return outcome.error;
}

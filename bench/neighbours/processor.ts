import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../test/support/child-process.ts';
import type { NeighbourServiceHandlers } from '../servers/neighbour-service.ts';

type Service = Pick<Child<NeighbourServiceHandlers>, 'ask'>;

/** Nothing that is idle takes more of a core. */
export const IDLE_SHARE_MAX = 0.05;
/** As long as the times of work that comes again by the clock, but for that of an hour. */
const WINDOW_MS = 5_000;
/** What an attack left to do is done first, and may take so long. */
const SETTLED_MS_MAX = 60_000;

/** Begins to measure the share of a core that the service takes; the function that it resolves with ends that. */
export async function startShare(service: Service): Promise<() => Promise<number>> {
  const before = await service.ask('processorMs');
  const startedAt = performance.now();
  return async () => {
    const elapsedMs = performance.now() - startedAt;
    return ((await service.ask('processorMs')) - before) / elapsedMs;
  };
}

/** The share of a core that the service takes when its work is done, and the seconds until then. */
export async function idleShare(service: Service): Promise<{ share: number; seconds: number }> {
  const startedAt = performance.now();
  for (;;) {
    const waitedMs = performance.now() - startedAt;
    const share = await startShare(service);
    await sleep(WINDOW_MS);
    const measured = await share();
    if (measured <= IDLE_SHARE_MAX || waitedMs >= SETTLED_MS_MAX) {
      return { share: measured, seconds: waitedMs / 1_000 };
    }
  }
}

import { delegate } from '../../application/delegate.ts';
import type { UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { MessageTally } from './message-tally.ts';
import type { Metrics } from './metrics.ts';
import { timed } from './timed.ts';

/** A unit of work whose runs and reads are timed. What committed runs did to messages and money is counted. */
export function measuredUnitOfWork(inner: UnitOfWork, metrics: Metrics): UnitOfWork {
  const measured = <T>(kind: 'run' | 'read', work: () => Promise<T>): Promise<T> =>
    timed(work, (seconds, done) =>
      metrics.unitsOfWork.observe({ kind, outcome: done === null ? 'failed' : 'ok' }, seconds),
    );
  return delegate(inner, {
    async run(work, durability, lockWait) {
      let tally = new MessageTally();
      const watched: typeof work = (stores) => {
        // Work that runs again after a conflict starts anew.
        tally = new MessageTally();
        return work(tally.watch(stores));
      };
      const result = await measured('run', () => inner.run(watched, durability, lockWait));
      tally.count(metrics);
      return result;
    },
    read: (work) => measured('read', () => inner.read(work)),
  });
}

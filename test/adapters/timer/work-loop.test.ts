import { expect, it } from 'vitest';
import { LocalWakeSignal } from '../../../src/adapters/timer/local-wake-signal.ts';
import { WorkLoop } from '../../../src/adapters/timer/work-loop.ts';
import type { RelayJobs } from '../../../src/application/jobs/relay-jobs.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** A loop whose polls end as given, one after the other, and then find nothing. */
function loopWith(outcomes: ('fails' | 'finds')[]) {
  const logger = new RecordingLogger();
  const localWakeSignal = new LocalWakeSignal();
  const relayJobs: Pick<RelayJobs, 'execute'> = {
    async execute() {
      const outcome = outcomes.shift();
      if (outcome === 'fails') throw new Error('no database');
      return outcome === 'finds' ? 1 : 0;
    },
  };
  const loop = new WorkLoop({
    localWakeSignal,
    relayJobs: relayJobs as RelayJobs,
    providerEvents: { deliverDue: async () => 0, nextDueAt: () => null },
    logger,
    polls: false,
  });
  return { loop, localWakeSignal, logger, outcomes };
}

it('the work loop logs once that it fails, and once that it has recovered', async () => {
  const { loop, localWakeSignal, logger, outcomes } = loopWith(['fails', 'fails', 'fails', 'finds', 'fails']);
  loop.start();
  while (outcomes.length > 0) {
    await loop.idle();
    localWakeSignal.wake();
  }
  await loop.idle();
  localWakeSignal.wake();
  await loop.idle();
  await loop.stop();
  expect(logger.entries.map(({ event }) => event)).toEqual([
    'work_loop_failed',
    'work_loop_recovered',
    'work_loop_failed',
    'work_loop_recovered',
  ]);
});

it('the work loop polls again as long as it finds work, and for every signal', async () => {
  const { loop, localWakeSignal, outcomes } = loopWith(['finds', 'finds', 'finds']);
  loop.start();
  await loop.idle();
  expect(outcomes).toEqual([]);
  outcomes.push('finds');
  await loop.idle();
  expect(outcomes).toEqual(['finds']);
  localWakeSignal.wake();
  await loop.idle();
  expect(outcomes).toEqual([]);
  await loop.stop();
});

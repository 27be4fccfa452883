import { expect, it } from 'vitest';
import { LocalWakeSignal } from '../../../src/adapters/timer/local-wake-signal.ts';
import { WorkLoop } from '../../../src/adapters/timer/work-loop.ts';
import type { RelayJobs } from '../../../src/application/jobs/relay-jobs.ts';
import { Gate } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** A loop whose polls end as given, one after the other, and then find nothing. */
function loopWith(outcomes: ('fails' | 'finds')[], recording: Promise<number> = Promise.resolve(0)) {
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
    providerEvents: { deliverDue: () => recording, nextDueAt: () => null },
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

it('the work loop relays jobs while events of a provider wait for their commit, and is idle after that commit', async () => {
  const commit = new Gate();
  const { loop, localWakeSignal, outcomes } = loopWith(
    ['finds', 'finds'],
    commit.opened.then(() => 1),
  );
  loop.start();
  while (outcomes.length > 0) await new Promise((resolve) => setImmediate(resolve));
  let isIdle = false;
  const idle = loop.idle().then(() => {
    isIdle = true;
  });
  localWakeSignal.wake();
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(isIdle).toBe(false);
  commit.open();
  await idle;
  await loop.stop();
});

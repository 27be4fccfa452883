import { describe, expect, it } from 'vitest';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import { Gate } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Whether a promise is settled by the end of this turn. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await turn();
  return settled;
}

describe('background work', () => {
  it('BackgroundWork starts work at once, counts it, and is idle when all of it has ended', async () => {
    const work = new BackgroundWork({ logger: new RecordingLogger() });
    const [first, second] = [new Gate(), new Gate()];
    work.start(() => first.opened);
    work.start(() => second.opened);
    expect(work.starts).toBe(2);
    const idle = work.idle();
    first.open();
    expect(await isSettled(idle)).toBe(false);
    second.open();
    expect(await isSettled(idle)).toBe(true);
  });

  it('BackgroundWork is idle when nothing was started', async () => {
    const work = new BackgroundWork({ logger: new RecordingLogger() });
    expect(await isSettled(work.idle())).toBe(true);
  });

  it('BackgroundWork wakes every caller that waits until it is idle', async () => {
    const work = new BackgroundWork({ logger: new RecordingLogger() });
    const gate = new Gate();
    work.start(() => gate.opened);
    const waiting = Promise.all([work.idle(), work.idle()]);
    gate.open();
    expect(await isSettled(waiting)).toBe(true);
  });

  it('BackgroundWork logs work that fails, at once or later, and is idle again', async () => {
    const logger = new RecordingLogger();
    const work = new BackgroundWork({ logger });
    work.start(() => {
      throw new Error('at once');
    });
    work.start(() => Promise.reject(new Error('later')));
    await work.idle();
    expect(logger.entries).toEqual([
      { level: 'error', event: 'background_work_failed', fields: {} },
      { level: 'error', event: 'background_work_failed', fields: {} },
    ]);
  });
});

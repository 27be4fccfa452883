import { describe, expect, it } from 'vitest';
import { BackgroundWork } from '../../src/application/background-work.ts';
import { Gate } from '../support/job-collector.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

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

describe('BackgroundWork', () => {
  it('returns at once, and is idle when everything ended', async () => {
    const work = new BackgroundWork({ logger: new RecordingLogger(), itemsMax: 10 });
    const [first, second] = [new Gate(), new Gate()];
    work.start(1, () => first.opened);
    work.start(1, () => second.opened);
    const idle = work.idle();
    first.open();
    expect(await isSettled(idle)).toBe(false);
    second.open();
    await idle;
  });

  it('is idle and has room when nothing was started', async () => {
    const work = new BackgroundWork({ logger: new RecordingLogger(), itemsMax: 1 });
    await work.idle();
    await work.waitForCapacity();
  });

  it('has room below its maximum only, counted in items', async () => {
    const work = new BackgroundWork({ logger: new RecordingLogger(), itemsMax: 10 });
    const [nine, one] = [new Gate(), new Gate()];
    work.start(9, () => nine.opened);
    expect(await isSettled(work.waitForCapacity())).toBe(true);
    work.start(1, () => one.opened);
    const room = work.waitForCapacity();
    expect(await isSettled(room)).toBe(false);
    one.open();
    await room;
    nine.open();
    await work.idle();
  });

  it('wakes everybody who waits for room', async () => {
    const work = new BackgroundWork({ logger: new RecordingLogger(), itemsMax: 1 });
    const gate = new Gate();
    work.start(1, () => gate.opened);
    const waiting = Promise.all([work.waitForCapacity(), work.waitForCapacity(), work.idle()]);
    gate.open();
    await waiting;
  });

  it('logs a failure, gives its room back and goes on', async () => {
    const logger = new RecordingLogger();
    const work = new BackgroundWork({ logger, itemsMax: 1 });
    work.start(1, () => Promise.reject(new Error('the channel is gone')));
    await work.waitForCapacity();
    await work.idle();
    expect(logger.entries).toEqual([{ level: 'error', event: 'background_work_failed', fields: {} }]);
  });

  it('gives the room back when work fails, even before it has begun', async () => {
    const logger = new RecordingLogger();
    const work = new BackgroundWork({ logger, itemsMax: 1 });
    work.start(1, () => {
      throw new Error('at once');
    });
    await work.waitForCapacity();
    work.start(1, () => Promise.reject(new Error('later')));
    await work.idle();
    expect(logger.count('background_work_failed')).toBe(2);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { CheckHealth, HEALTH_FRESH_MS } from '../../src/application/check-health.ts';
import { NOW } from '../support/builders.ts';

const WELL = { name: 'database', ok: true, critical: true, detail: 'answers' };
const DOWN = { name: 'database', ok: false, critical: true, detail: 'does not answer' };
const QUEUE = { name: 'queue', ok: true, critical: false, detail: 'carries jobs' };

const NO_PROVIDER = 'no provider: live projects do not have this channel';
const SMS = { name: 'sms', ok: true, critical: false, detail: 'bound to the SMSC' };
const CHANNELS = [
  SMS,
  { name: 'whatsapp', ok: true, critical: false, detail: NO_PROVIDER },
  { name: 'telegram', ok: true, critical: false, detail: NO_PROVIDER },
];

let smsIsWell: boolean;
let now: number;
/** The questions the database was asked, each answered by the test. */
let asked: { reply: () => void; fail: () => void }[];
let unavailableReason: string | null;
let health: CheckHealth;

beforeEach(() => {
  smsIsWell = true;
  now = NOW;
  asked = [];
  unavailableReason = null;
  const never = () => Promise.reject(new Error('a check does nothing but ask'));
  health = new CheckHealth({
    unitOfWork: {
      run: never,
      read: never,
      ping: () =>
        new Promise((resolve, reject) => {
          asked.push({ reply: resolve, fail: () => reject(new Error('away')) });
        }),
    },
    jobQueue: {
      publish: never,
      consume: never,
      availableCapacity: never,
      idle: never,
      unavailableReason: () => unavailableReason,
      close: never,
    },
    channelProviders: {
      of: (channel) =>
        channel === 'sms'
          ? {
              start: never,
              submit: never,
              close: never,
              health: () => ({ ok: smsIsWell, detail: 'bound to the SMSC' }),
            }
          : null,
    },
    clock: { now: () => now },
  });
});

/** Asks once, with the database answering. */
async function askWell(): Promise<void> {
  const reply = health.readiness();
  asked.at(-1)?.reply();
  expect(await reply).toEqual({ ready: true, dependencies: [WELL, QUEUE, ...CHANNELS] });
}

describe('CheckHealth', () => {
  it('asks the database once for everybody who asks meanwhile', async () => {
    const replies = Array.from({ length: 1_000 }, () => health.readiness());
    expect(asked).toHaveLength(1);
    asked[0]?.reply();
    for (const reply of await Promise.all(replies)) {
      expect(reply).toEqual({ ready: true, dependencies: [WELL, QUEUE, ...CHANNELS] });
    }
  });

  it('takes a database that answered to be well for a second', async () => {
    expect(HEALTH_FRESH_MS).toBe(1_000);
    await askWell();
    now = NOW + 999;
    expect(await health.readiness()).toEqual({ ready: true, dependencies: [WELL, QUEUE, ...CHANNELS] });
    expect(asked).toHaveLength(1);
    now = NOW + 1_000;
    await askWell();
    expect(asked).toHaveLength(2);
  });

  it('asks again when the clock was set back', async () => {
    await askWell();
    now = NOW - 60_000;
    await askWell();
    expect(asked).toHaveLength(2);
  });

  it('shares a bad reply, and asks anew at the next question', async () => {
    const replies = [health.readiness(), health.readiness()];
    asked[0]?.fail();
    const down = { ready: false, dependencies: [DOWN, QUEUE, ...CHANNELS] };
    expect(await Promise.all(replies)).toEqual([down, down]);
    expect(asked).toHaveLength(1);
    await askWell();
    expect(asked).toHaveLength(2);
  });

  it('knows of the queue and of the stop at once', async () => {
    await askWell();
    unavailableReason = 'not reachable';
    const queue = { ...QUEUE, ok: false, detail: 'not reachable' };
    expect(await health.readiness()).toEqual({ ready: true, dependencies: [WELL, queue, ...CHANNELS] });
    health.stopping();
    expect(await health.readiness()).toEqual({ ready: false, dependencies: [WELL, queue, ...CHANNELS] });
    expect(asked).toHaveLength(1);
  });

  it('shows a provider that is not well, and is ready all the same', async () => {
    smsIsWell = false;
    const reply = health.readiness();
    asked.at(-1)?.reply();
    expect(await reply).toMatchObject({
      ready: true,
      dependencies: [WELL, QUEUE, { ...SMS, ok: false }, {}, {}],
    });
  });
});

import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import {
  COUNTED_SLICE,
  UNTRIED_MESSAGES_MAX,
  UntriedMessages,
} from '../../../src/application/sending/untried-messages.ts';
import { aCode, aMessage, anSmsId, aText, NOW, PROJECT_ID } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

const UNTRIED_MAX = 4;
const SLICE = 2;
const OTHER_PROJECT_ID = 'f'.repeat(24);

let database: Database;
let unitOfWork: SqlUnitOfWork;
let logger: RecordingLogger;
const clock = { at: NOW, now: () => clock.at };

beforeEach(async () => {
  clock.at = NOW;
  logger = new RecordingLogger();
  database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
  await database.migrate();
  unitOfWork = new SqlUnitOfWork(database);
});
afterEach(() => database.close());

/** Counts after every second accepted message, two messages at a time. */
function untriedMessages({ failure = null as Error | null } = {}) {
  let reads = 0;
  const messages = new UntriedMessages({
    unitOfWork: {
      async read(work) {
        reads += 1;
        if (failure !== null) throw failure;
        return unitOfWork.read(work);
      },
    },
    background: new BackgroundWork({ logger }),
    clock,
    untriedMax: UNTRIED_MAX,
    countedSlice: SLICE,
  });
  return { messages, readsOf: () => reads };
}

/** One of three is a text, the others are codes. */
const jobs = Array.from({ length: 7 }, (_, n) =>
  startAttemptJob(aMessage({ smsId: anSmsId(n + 1), content: n % 3 === 2 ? aText() : aCode() }), 0, NOW),
);
const addJobs = (count: number) => unitOfWork.run((stores) => stores.jobs.add(jobs.slice(0, count), NOW));

function accept(messages: UntriedMessages, count: number): void {
  for (let accepted = 0; accepted < count; accepted += 1) messages.noteAccepted(PROJECT_ID);
}

it('about 100,000 messages of a project may wait, counted 10,000 at a time', () => {
  expect([UNTRIED_MESSAGES_MAX, COUNTED_SLICE]).toEqual([100_000, 10_000]);
});

it('a project has too many messages when as many as it may have wait for their first attempt, others do not', async () => {
  const { messages } = untriedMessages();
  // Four codes and two texts: two slices of codes reach the bound.
  await addJobs(6);
  accept(messages, SLICE - 1);
  for (let accepted = 0; accepted < SLICE; accepted += 1) messages.noteAccepted(OTHER_PROJECT_ID);
  expect(messages.areTooMany(PROJECT_ID)).toBe(false);
  accept(messages, 1);
  await until(() => messages.areTooMany(PROJECT_ID));
  expect(messages.areTooMany(OTHER_PROJECT_ID)).toBe(false);
});

it('codes and texts count together, as far as each fills a slice', async () => {
  const { messages, readsOf } = untriedMessages();
  // Three codes and one text: one slice of codes.
  await addJobs(4);
  accept(messages, SLICE);
  await until(() => readsOf() === 3);
  await unitOfWork.read(async () => undefined);
  expect(messages.areTooMany(PROJECT_ID)).toBe(false);
  // Three codes and two texts: one slice of each.
  await unitOfWork.run((stores) =>
    stores.jobs.add([startAttemptJob(aMessage({ smsId: anSmsId(9), content: aText() }), 0, NOW)], NOW),
  );
  accept(messages, SLICE);
  await until(() => messages.areTooMany(PROJECT_ID));
});

it('a project is counted again a second later, or when the clock was put back, and may send when its messages were tried', async () => {
  for (const later of [1_000, -60_000]) {
    const { messages, readsOf } = untriedMessages();
    await addJobs(7);
    accept(messages, SLICE);
    await until(() => messages.areTooMany(PROJECT_ID));
    const reads = readsOf();
    await unitOfWork.run((stores) => stores.jobs.remove(jobs.map(({ id }) => id)));
    clock.at += 999;
    expect([messages.areTooMany(PROJECT_ID), readsOf()]).toEqual([true, reads]);
    clock.at += later - 999;
    await until(() => !messages.areTooMany(PROJECT_ID));
  }
});

it.each([
  ['without a database', new StorageUnavailable(new Error('away')), 0],
  ['for another reason, which is logged', new Error('a bug'), 1],
])(
  'a count that fails %s leaves things as they were, and the next one is made',
  async (_, failure, logged) => {
    const { messages, readsOf } = untriedMessages({ failure });
    accept(messages, SLICE);
    await until(() => readsOf() === 1);
    await setImmediate();
    expect(messages.areTooMany(PROJECT_ID)).toBe(false);
    expect(logger.count('background_work_failed')).toBe(logged);
    await until(() => {
      accept(messages, SLICE);
      return readsOf() === 2;
    });
  },
);

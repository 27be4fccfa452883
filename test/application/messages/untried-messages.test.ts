import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { UntriedMessages } from '../../../src/application/messages/untried-messages.ts';
import { StorageUnavailable } from '../../../src/application/storage-unavailable.ts';
import { aMessage, anSmsId, NOW, PROJECT_ID } from '../../support/builders.ts';

const UNTRIED_MAX = 3;
const OTHER_PROJECT_ID = 'f'.repeat(24);

let database: Database;
let unitOfWork: SqlUnitOfWork;
const clock = { at: NOW, now: () => clock.at };

beforeEach(async () => {
  clock.at = NOW;
  database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
  await database.migrate();
  unitOfWork = new SqlUnitOfWork(database);
});
afterEach(() => database.close());

/** Counts after every third accepted message. */
function untriedMessages({ isAway = false } = {}) {
  let counts = 0;
  const messages = new UntriedMessages({
    unitOfWork: {
      async read(work) {
        counts += 1;
        if (isAway) throw new StorageUnavailable(new Error('away'));
        return unitOfWork.read(work);
      },
    },
    clock,
    untriedMax: UNTRIED_MAX,
    acceptedBetweenCounts: 3,
  });
  return { messages, countsOf: () => counts };
}

const jobs = Array.from({ length: UNTRIED_MAX }, (_, n) =>
  startAttemptJob(aMessage({ smsId: anSmsId(n + 1) }), 0, NOW),
);
const addJobs = (count: number) => unitOfWork.run((stores) => stores.jobs.add(jobs.slice(0, count), NOW));

function accept(messages: UntriedMessages, count: number): void {
  for (let accepted = 0; accepted < count; accepted += 1) messages.noteAccepted(PROJECT_ID);
}

it('a project has too many messages when as many as it may have wait for their first attempt, others do not', async () => {
  const { messages, countsOf } = untriedMessages();
  await addJobs(UNTRIED_MAX);
  accept(messages, 2);
  expect(countsOf()).toBe(0);
  for (let accepted = 0; accepted < 3; accepted += 1) messages.noteAccepted(OTHER_PROJECT_ID);
  expect(messages.areTooMany(PROJECT_ID)).toBe(false);
  accept(messages, 1);
  await vi.waitUntil(() => messages.areTooMany(PROJECT_ID));
  expect(messages.areTooMany(OTHER_PROJECT_ID)).toBe(false);
});

it('a project with one message less does not have too many', async () => {
  const { messages, countsOf } = untriedMessages();
  await addJobs(UNTRIED_MAX - 1);
  accept(messages, 3);
  await vi.waitUntil(() => countsOf() === 1);
  await unitOfWork.read(async () => undefined);
  expect(messages.areTooMany(PROJECT_ID)).toBe(false);
});

it('a project is counted again a second later, or when the clock was put back, and may send when its messages were tried', async () => {
  for (const later of [1_000, -60_000]) {
    const { messages, countsOf } = untriedMessages();
    await addJobs(UNTRIED_MAX);
    accept(messages, 3);
    await vi.waitUntil(() => messages.areTooMany(PROJECT_ID));
    await unitOfWork.run((stores) => stores.jobs.remove(jobs.map(({ id }) => id)));
    clock.at += 999;
    expect([messages.areTooMany(PROJECT_ID), countsOf()]).toEqual([true, 1]);
    clock.at += later - 999;
    await vi.waitUntil(() => !messages.areTooMany(PROJECT_ID));
    expect(countsOf()).toBe(2);
  }
});

it('a count that fails leaves things as they were, and the next one is made', async () => {
  const { messages, countsOf } = untriedMessages({ isAway: true });
  accept(messages, 3);
  await vi.waitUntil(() => countsOf() === 1);
  await Promise.resolve();
  expect(messages.areTooMany(PROJECT_ID)).toBe(false);
  await vi.waitUntil(() => {
    accept(messages, 3);
    return countsOf() === 2;
  });
});

it('a project is counted once at a time', async () => {
  const { messages, countsOf } = untriedMessages();
  await addJobs(UNTRIED_MAX);
  accept(messages, 9);
  expect(countsOf()).toBe(1);
  await vi.waitUntil(() => messages.areTooMany(PROJECT_ID));
});

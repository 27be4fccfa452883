import { afterEach, beforeEach, expect, it } from 'vitest';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { MarkRestored } from '../../../src/application/restores/mark-restored.ts';
import { RESTORED_REASON, RestorePoint } from '../../../src/application/restores/restore-point.ts';
import { holdEntry } from '../../../src/domain/billing/ledger.ts';
import type { Message } from '../../../src/domain/messages/message.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aMessage, anSmsId, NOW, PROJECT_ID } from '../../support/builders.ts';

const DAY_MS = 86_400_000;

let world: ApplicationWorld;
beforeEach(async () => {
  world = await openApplication();
});
afterEach(() => world.close());

/** Stores a message with its hold, to be started now. */
function accept(message: Message): Promise<void> {
  const at = world.clock.at;
  return world.unitOfWork.run(async ({ messages, ledger, jobs }) => {
    await messages.insert([message]);
    await ledger.post([holdEntry({ projectId: PROJECT_ID, reference: message.smsId, at }, message.cost)]);
    await jobs.add([startAttemptJob(message, 0, at)], at);
  });
}

async function mark() {
  const marked = await world.container.get(MarkRestored).execute();
  await world.container.get(RestorePoint).load();
  return marked;
}

it('a message of a backup that is dated a year later does not keep new messages from being sent', async () => {
  const ended = aMessage({ createdAt: NOW + 365 * DAY_MS, isFinal: true, status: 'delivered' });
  await world.unitOfWork.run(({ messages }) => messages.insert([ended]));
  expect(await mark()).toEqual({ restorePoint: NOW, messagesDatedLater: 0, unscheduledCampaigns: [] });
  world.clock.at += DAY_MS;
  await accept(aMessage({ smsId: anSmsId(2), createdAt: world.clock.at }));
  await world.runDueJobs();
  expect(world.submitted.map(({ smsId }) => smsId)).toEqual([anSmsId(2)]);
});

it('an open message of a backup that is dated later than the mark is not sent', async () => {
  await accept(aMessage({ createdAt: NOW + 5_000 }));
  expect(await mark()).toMatchObject({ restorePoint: NOW, messagesDatedLater: 1 });
  world.clock.at += DAY_MS;
  await world.runDueJobs();
  expect(world.submitted).toEqual([]);
  expect(await world.message(anSmsId())).toMatchObject({ status: 'failed', errorReason: RESTORED_REASON });
});

it('a process whose clock is behind the mark does not start: its new messages would count as those of the backup', async () => {
  await accept(aMessage({ createdAt: NOW }));
  await mark();
  world.clock.at = NOW - 1;
  await expect(world.container.get(RestorePoint).load()).rejects.toThrow(
    'the clock of this machine, 2026-01-15T11:59:59.999Z, is behind',
  );
  world.clock.at = NOW;
  await world.container.get(RestorePoint).load();
});

it('a mark that is repeated covers what came since', async () => {
  await accept(aMessage({ createdAt: NOW + 5_000 }));
  await mark();
  world.clock.at += DAY_MS;
  expect(await mark()).toMatchObject({ restorePoint: NOW + 5_000, messagesDatedLater: 0 });
});

it('the audit log has a record of the mark', async () => {
  await accept(aMessage());
  await mark();
  const query = { projectId: null, before: null, limit: 9 };
  expect(await world.unitOfWork.read(({ auditLog }) => auditLog.list(query))).toMatchObject([
    {
      actor: 'cli-database',
      action: 'database-restored',
      projectId: null,
      after: {
        restorePoint: new Date(NOW).toISOString(),
        messagesDatedLater: 0,
        unscheduledCampaigns: [],
      },
    },
  ]);
});

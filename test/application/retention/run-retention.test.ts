import { afterEach, beforeEach, expect, it } from 'vitest';
import { ManageProjects } from '../../../src/application/operators/manage-projects.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import { aMessage, anSmsId, aProject, PROJECT_ID, someProjectSettings } from '../../support/builders.ts';

const OTHER_ID = '664abc0000000000000000ff';
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

let world: ApplicationWorld;

beforeEach(async () => {
  const settings = someProjectSettings({ rateLimit: null });
  const other = aProject({ id: OTHER_ID, slug: 'second', name: 'Second', settings });
  world = await openApplication({ projects: [aSeedProject(), aSeedProject({ project: other })] });
  for (const projectId of [PROJECT_ID, OTHER_ID]) {
    await world.container
      .get(ManageProjects)
      .change('operator', projectId, { settings: { retention: { days: 8, action: 'anonymise' } } });
  }
});
afterEach(() => world.close());

const anOldMessage = (n: number, projectId: string) => {
  const createdAt = world.clock.at - 30 * DAY_MS;
  return aMessage({ smsId: anSmsId(n), projectId, createdAt, isFinal: true, status: 'delivered' });
};

it('a message that cannot be read keeps its own project waiting, and no other, and the job comes again', async () => {
  const messages = [anOldMessage(1, PROJECT_ID), anOldMessage(2, OTHER_ID)];
  await world.unitOfWork.run((stores) => stores.messages.insert(messages));
  await world.database.knex.raw(`UPDATE messages SET channels = '{' WHERE sms_id = '${anSmsId(1)}'`);
  for (let hour = 0; hour < 7; hour++) {
    expect(await world.runDueJobs()).toEqual(['retention/run']);
    world.clock.at += HOUR_MS;
  }
  expect((await world.message(anSmsId(2), OTHER_ID)).phoneNumber).toBe('0000000000');
  const failed = world.logger.entries.filter(({ event }) => event === 'retention_failed');
  expect(failed).toHaveLength(7);
  expect(failed[0]).toEqual({
    level: 'error',
    event: 'retention_failed',
    fields: { projectId: PROJECT_ID },
  });
  expect(await world.unitOfWork.read(({ deadLetters }) => deadLetters.count(5))).toBe(0);
});

it('a run comes again a day later while no project has retention, and at once when one gets it', async () => {
  const projects = world.container.get(ManageProjects);
  const change = (projectId: string, days: number | null) =>
    projects.change('operator', projectId, {
      settings: { retention: days === null ? null : { days, action: 'anonymise' } },
    });
  for (const projectId of [PROJECT_ID, OTHER_ID]) await change(projectId, null);
  expect(await world.runDueJobs()).toEqual(['retention/run']);
  world.clock.at += DAY_MS - 1;
  expect(await world.runDueJobs()).toEqual([]);
  world.clock.at += 1;
  expect(await world.runDueJobs()).toEqual(['retention/run']);
  await change(OTHER_ID, 9);
  expect(await world.runDueJobs()).toEqual(['retention/run']);
});

it('a receipt that nobody waits for leaves with a run, also where nothing else is submitted', async () => {
  const receipt = { kind: 'failed', reason: 'no handset 9647712345678' } as const;
  const parked = (expiresAt: number, count: number) =>
    world.unitOfWork.run(({ submissions }) =>
      submissions.park(
        Array.from({ length: count }, (_, index) => ({
          channel: 'sms',
          providerMessageId: `${expiresAt}-${index}`,
          receipt,
        })),
        expiresAt,
      ),
    );
  await parked(world.clock.at, 120);
  await parked(world.clock.at + 1, 1);
  expect(await world.runDueJobs()).toEqual(['retention/run']);
  const left = await world.database.knex('submissions').pluck('provider_message_id');
  expect(left).toEqual([`${world.clock.at + 1}-0`]);
});

import { expect, it } from 'vitest';
import { deliverWebhooksJob, type WebhookWork } from '../../../src/application/jobs/webhook-jobs.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { Durability, UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { ReleaseJobs } from '../../../src/application/webhooks/release-jobs.ts';
import type { Job, LeasedJob } from '../../../src/domain/jobs/job.ts';
import { NOW, PROJECT_ID } from '../../support/builders.ts';

function leased(endpoint: string): LeasedJob<WebhookWork> {
  const { id, work } = deliverWebhooksJob({ projectId: PROJECT_ID, endpoint }, NOW);
  return { id, work, fencingToken: 1 };
}

/** When the next event of each endpoint is due; null without events. */
function world(nextDueAt: Readonly<Record<string, number | null>>) {
  const completed: string[] = [];
  const added: (readonly [endpoint: string, dueAt: number])[] = [];
  const durabilities: (Durability | undefined)[] = [];
  let wakes = 0;
  const stores = {
    jobs: {
      lockLeased: async (jobs: readonly LeasedJob[]) => jobs,
      async complete(jobs: readonly LeasedJob<WebhookWork>[]) {
        completed.push(...jobs.map(({ work }) => work.endpoint));
        return jobs;
      },
      async add(jobs: readonly Job<WebhookWork>[]) {
        added.push(...jobs.map(({ work, dueAt }) => [work.endpoint, dueAt] as const));
      },
    },
    webhookEvents: {
      nextDueAt: async (works: readonly WebhookWork[]) =>
        works.map(({ endpoint }) => nextDueAt[endpoint] ?? null),
    },
  } as unknown as Stores;
  const unitOfWork: Pick<UnitOfWork, 'run'> = {
    run(work, durability) {
      durabilities.push(durability);
      return work(stores);
    },
  };
  const releaseJobs = new ReleaseJobs({
    unitOfWork: unitOfWork as UnitOfWork,
    clock: { now: () => NOW },
    wakeSignal: {
      wake() {
        wakes += 1;
      },
    },
  });
  return { releaseJobs, completed, added, durabilities, wakesOf: () => wakes };
}

it('a released job is due with its next event, but not before it may be, and one without events is done', async () => {
  const here = world({
    'due.example/': NOW,
    'held.example/': NOW - 5,
    'later.example/': NOW + 9,
    'done.example/': null,
  });
  await Promise.all([
    here.releaseJobs.execute({ job: leased('due.example/'), notBefore: 0 }),
    here.releaseJobs.execute({ job: leased('held.example/'), notBefore: NOW + 2 }),
    here.releaseJobs.execute({ job: leased('later.example/'), notBefore: NOW + 2 }),
    here.releaseJobs.execute({ job: leased('done.example/'), notBefore: 0 }),
  ]);
  expect(here.added).toEqual([
    ['due.example/', NOW],
    ['held.example/', NOW + 2],
    ['later.example/', NOW + 9],
  ]);
  expect(here.completed).toEqual(['done.example/']);
  expect(new Set(here.durabilities)).toEqual(new Set(['eventual']));
});

it('workers are woken when a released job is due already, and not for one that is due later', async () => {
  for (const [dueAt, wakes] of [
    [NOW - 1, 1],
    [NOW, 1],
    [NOW + 1, 0],
    [null, 0],
  ] as const) {
    const here = world({ 'one.example/': dueAt });
    await here.releaseJobs.execute({ job: leased('one.example/'), notBefore: 0 });
    expect(here.wakesOf()).toBe(wakes);
  }
  const both = world({ 'one.example/': NOW, 'two.example/': NOW + 1 });
  await Promise.all(
    ['one.example/', 'two.example/'].map((endpoint) =>
      both.releaseJobs.execute({ job: leased(endpoint), notBefore: 0 }),
    ),
  );
  expect(both.wakesOf()).toBeGreaterThan(0);
});

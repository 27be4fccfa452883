import { expect, it } from 'vitest';
import { RenewLeases } from '../../../src/application/jobs/renew-leases.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { Durability, UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { LEASE_MS, type LeasedJob } from '../../../src/domain/jobs/job.ts';
import { NOW } from '../../support/builders.ts';

const aJob = (id: string): LeasedJob => ({ id, fencingToken: 1, work: { kind: 'deliver-webhooks' } });

it('RenewLeases extends the leases of many jobs in one transaction, and tells of those that others have by now', async () => {
  const renewals: (readonly [ids: readonly string[], until: number, workerId: string])[] = [];
  const durabilities: (Durability | undefined)[] = [];
  const clock = { at: NOW, now: () => clock.at };
  const stores = {
    jobs: {
      async renew(jobs: readonly LeasedJob[], until: number, workerId: string) {
        renewals.push([jobs.map(({ id }) => id), until, workerId]);
        clock.at += 7;
        return jobs.filter(({ id }) => id !== 'taken');
      },
    },
  } as unknown as Stores;
  const unitOfWork: Pick<UnitOfWork, 'run'> = {
    run(work, durability) {
      durabilities.push(durability);
      return work(stores);
    },
  };
  const renewLeases = new RenewLeases({ unitOfWork: unitOfWork as UnitOfWork, clock, workerId: 'w1' });
  const leases = await Promise.all(['one', 'taken', 'two'].map((id) => renewLeases.execute(aJob(id))));
  const lease = { at: NOW, until: NOW + LEASE_MS };
  expect(leases).toEqual([lease, null, lease]);
  expect(renewals).toEqual([[['one', 'taken', 'two'], NOW + LEASE_MS, 'w1']]);
  expect(durabilities).toEqual(['eventual']);
});

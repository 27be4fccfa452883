import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApplyMessageEvents } from '../../../src/application/attempts/apply-message-events.ts';
import { StopCampaigns } from '../../../src/application/campaigns/stop-campaigns.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { type StopCampaignWork, stopCampaignJob } from '../../../src/application/jobs/campaign-jobs.ts';
import { LEASE_MS, type LeasedJob } from '../../../src/domain/jobs/job.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anId, NOW, SECOND_MS } from '../../support/builders.ts';
import { type CampaignWorld, openCampaigns, PROJECT, testNumbers } from '../../support/campaign-world.ts';

describe('stopping campaigns', () => {
  let world: CampaignWorld;
  const stopId = (id = anId()) => `campaigns/${id}/stop`;

  beforeEach(async () => {
    world = await openCampaigns();
  });

  afterEach(() => world.close());

  /** A campaign that was stopped; its stop job is not leased yet. */
  async function stopping(count: number, id = anId()): Promise<readonly string[]> {
    await world.started(testNumbers(count), { id });
    await world.database.knex('campaigns').where({ id }).update({ status: 'failed' });
    await world.unitOfWork.run(({ jobs }) =>
      jobs.add([stopCampaignJob({ id, projectId: PROJECT.id }, world.clock.at)], world.clock.at),
    );
    return (await world.recipients(id)).map((recipient) => `sms-${recipient.id}`);
  }

  /** Starts the attempt of a message whose result a test gives. */
  const dispatching = (smsId: string | undefined) =>
    world.database
      .knex('messages')
      .where({ sms_id: smsId })
      .update({
        attempts: JSON.stringify([
          {
            channel: 'whatsapp',
            state: 'dispatching',
            reason: null,
            providerMessageIds: [],
            deliveredIds: [],
            startedAt: NOW,
            endedAt: null,
          },
        ]),
      });

  const lease = async (): Promise<readonly LeasedJob<StopCampaignWork>[]> =>
    (await world.lease()).filter(
      ({ work }) => work.kind === 'stop-campaign',
    ) as LeasedJob<StopCampaignWork>[];
  const stop = async (jobs: readonly LeasedJob<StopCampaignWork>[]): Promise<void> => {
    for (const job of jobs) await world.container.get(StopCampaigns).execute(job);
  };

  it('a stop cancels the recipients that are queued, and releases what was held for them', async () => {
    await stopping(2);
    await stop(await lease());
    expect(await world.recipients()).toMatchObject([
      { status: 'failed', errorMessage: 'The campaign was stopped', billingState: 'released' },
      { status: 'failed', errorMessage: 'The campaign was stopped', billingState: 'released' },
    ]);
    expect(await world.campaign()).toMatchObject({ failedCount: 2, released: iqd(120) });
    expect(await world.account()).toMatchObject({ held: iqd(0), balance: iqd(1_000) });
    expect(await world.jobs()).toEqual({});
  });

  it('a stop leaves what is dispatching, comes again 30 s later and cancels it when it was busy', async () => {
    const [first] = await stopping(2);
    await dispatching(first);
    world.clock.at = NOW + SECOND_MS;
    await stop(await lease());
    expect(await world.recipients()).toMatchObject([{ status: 'queued' }, { status: 'failed' }]);
    expect(await world.account()).toMatchObject({ held: iqd(60) });
    const again = NOW + 31 * SECOND_MS;
    expect(await world.jobs()).toMatchObject({ [stopId()]: again });
    const result = { kind: 'rejected', cause: 'busy', reason: 'Too many', endsChain: false } as const;
    await world.container
      .get(ApplyMessageEvents)
      .submitted({ smsId: first ?? '', attemptNumber: 0, channel: 'whatsapp', result });
    expect(await world.recipients()).toMatchObject([{ status: 'queued' }, { status: 'failed' }]);
    world.clock.at = again;
    await stop(await lease());
    expect(await world.recipients()).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
    expect(await world.account()).toMatchObject({ held: iqd(0), balance: iqd(1_000) });
    expect(await world.jobs()).toEqual({});
  });

  it('a recipient that was sent keeps its course when its campaign stops', async () => {
    const [first] = await stopping(1);
    await world.unitOfWork.run(({ jobs }) => jobs.remove([stopId()]));
    await world.runDueJobs();
    await world.unitOfWork.run(({ jobs }) =>
      jobs.add([stopCampaignJob({ id: anId(), projectId: PROJECT.id }, world.clock.at)], world.clock.at),
    );
    await stop(await lease());
    expect(await world.message(first ?? '')).toMatchObject({ status: 'sent', isFinal: false });
    expect(await world.jobs()).not.toHaveProperty([stopId()]);
  });

  it('a stop with an older lease leaves the job to the newer one', async () => {
    const [first] = await stopping(1);
    await dispatching(first);
    const older = await lease();
    world.clock.at = NOW + LEASE_MS;
    const newer = await lease();
    const due = { [stopId()]: NOW + 2 * LEASE_MS };
    await stop(older);
    expect(await world.jobs()).toMatchObject(due);
    await stop(newer);
    expect(await world.jobs()).toMatchObject({ [stopId()]: NOW + LEASE_MS + 30 * SECOND_MS });
  });

  it('a stop waits briefly for locks, rejects, and leaves its job leased', async () => {
    await stopping(1);
    const jobs = await lease();
    world.units.failures = [new StorageLocked(new Error('lock timeout'))];
    world.units.asked.length = 0;
    await expect(stop(jobs)).rejects.toBeInstanceOf(StorageLocked);
    expect(world.units.asked).toEqual(['full brief']);
    expect(await world.recipients()).toMatchObject([{ status: 'queued' }]);
    expect(await world.jobs()).toMatchObject({ [stopId()]: NOW + LEASE_MS });
  });

  it('a stop passes on every other error of the database', async () => {
    await stopping(1);
    const jobs = await lease();
    world.units.failures = [new Error('disk full')];
    await expect(stop(jobs)).rejects.toThrow('disk full');
  });
});

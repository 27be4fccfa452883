import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeyedCampaignCommand } from '../../../src/application/campaigns/campaign-command.ts';
import { StartCampaigns } from '../../../src/application/campaigns/start-campaigns.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { type StartCampaignWork, startCampaignJob } from '../../../src/application/jobs/campaign-jobs.ts';
import { SendMessages } from '../../../src/application/sending/send-messages.ts';
import { LEASE_MS, type LeasedJob } from '../../../src/domain/jobs/job.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import {
  aCampaign,
  anId,
  aSendRequest,
  aTestNumber,
  HOUR_MS,
  NOW,
  SECOND_MS,
} from '../../support/builders.ts';
import {
  type CampaignWorld,
  given,
  keyed,
  NUMBER_KEY,
  OFFER,
  OTHER_PROJECT,
  openCampaigns,
  PENDING,
  PROJECT,
  rejectionOf,
  testNumbers,
} from '../../support/campaign-world.ts';

const AT = NOW + HOUR_MS;

describe('starting campaigns', () => {
  let world: CampaignWorld;
  let start: StartCampaigns;

  beforeEach(async () => {
    world = await openCampaigns();
    start = world.container.get(StartCampaigns);
  });

  afterEach(() => world.close());

  it('a start by hand reserves the cost of all recipients and makes a message and a job for each', async () => {
    const command = await world.created(testNumbers(2));
    await world.database.knex('campaign_recipients').update({ estimated_cost: 1_000 });
    world.clock.at = NOW + SECOND_MS;
    const wakes = world.wakes.count;
    const { campaign, replayed } = await start.byHand(command);
    expect(replayed).toBe(false);
    expect(campaign).toMatchObject({
      status: 'running',
      startedAt: NOW + SECOND_MS,
      estimatedCost: iqd(120),
      reserved: iqd(120),
    });
    expect(await world.campaign()).toEqual(campaign);
    expect(await world.account()).toMatchObject({ held: iqd(120), balance: iqd(1_000) });
    const recipients = await world.recipients();
    const reserved = { status: 'queued', billingState: 'reserved', estimatedCost: iqd(60) };
    expect(recipients).toMatchObject([reserved, reserved]);
    expect(await world.jobs()).toEqual(
      Object.fromEntries(recipients.map(({ id }) => [`sms-${id}/start/0`, NOW + SECOND_MS])),
    );
    expect(await world.message(`sms-${recipients[0]?.id}`)).toMatchObject({
      campaignId: anId(),
      phoneNumber: aTestNumber('0001'),
      channels: ['whatsapp'],
      cost: iqd(60),
    });
    expect(world.wakes.count).toBe(wakes + 1);
  });

  it('a start is replayed under its key, and reserves once', async () => {
    const command: KeyedCampaignCommand = { ...(await world.created(testNumbers(1))), idempotency: keyed() };
    const first = await start.byHand(command);
    expect(await start.byHand(command)).toEqual({ ...first, replayed: true });
    const other = { ...command, idempotency: keyed('k-1', 'h-2') };
    expect(await rejectionOf(start.byHand(other))).toEqual({ kind: 'idempotency-conflict' });
    expect(await world.account()).toMatchObject({ held: iqd(60) });
  });

  it('a start that is rejected changes nothing', async () => {
    const command = await world.created();
    expect(await rejectionOf(start.byHand(command))).toEqual({ kind: 'campaign-without-recipients' });
    expect(await world.campaign()).toEqual(aCampaign());
    expect(world.wakes.count).toBe(0);
  });

  it('nobody starts a campaign by hand that is not a draft, or one of another project', async () => {
    const scheduled = await world.created([], { status: 'scheduled', scheduledFor: AT });
    const rejection = { kind: 'campaign-not-draft', status: 'scheduled' };
    expect(await rejectionOf(start.byHand(scheduled))).toEqual(rejection);
    const ofOther = { ...(await world.created(testNumbers(1), { id: anId(2) })), project: OTHER_PROJECT };
    expect(await rejectionOf(start.byHand(ofOther))).toEqual({ kind: 'campaign-not-found' });
    expect(await rejectionOf(start.sample(ofOther, [given()]))).toEqual({ kind: 'campaign-not-found' });
  });

  it('a project without an account cannot start anything', async () => {
    const gone = { ...(await world.created()), project: { ...PROJECT, id: anId(66) } };
    await expect(start.byHand(gone)).rejects.toThrow(`Project ${anId(66)} has no account`);
  });

  it('messages start 8 at a time every 100 ms, and those of the next campaign of the number behind them', async () => {
    await world.started(testNumbers(10));
    const second = await world.started(testNumbers(1), { id: anId(2) });
    const [of] = await world.recipients(second);
    const jobs = await world.jobs();
    const dueIn = (await world.recipients()).map(({ id }) => (jobs[`sms-${id}/start/0`] ?? 0) - NOW);
    expect(dueIn).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 100, 100]);
    expect(jobs[`sms-${of?.id}/start/0`]).toBe(NOW + 200);
    expect(await world.unitOfWork.read(({ sendingSlots }) => sendingSlots.find(NUMBER_KEY))).toEqual({
      freeAt: NOW + 300,
      savedAt: NOW,
    });
  });

  it('a sample is a started child with recipients of its own, and its parent stays as it was', async () => {
    const command = await world.created(testNumbers(2), { scheduledFor: AT, status: 'scheduled' });
    const parent = await world.campaign();
    const numbers = testNumbers(2, '0004');
    const { campaign, replayed } = await start.sample(
      command,
      numbers.map((number) => given(number)),
    );
    expect(replayed).toBe(false);
    expect(campaign).toMatchObject({
      name: 'Spring (sample)',
      status: 'running',
      scheduledFor: null,
      sampleOf: anId(),
      totalRecipients: 2,
      estimatedCost: iqd(120),
      reserved: iqd(120),
      createdAt: NOW,
    });
    expect(await world.campaign()).toEqual(parent);
    expect(await world.campaign(campaign.id)).toEqual(campaign);
    expect(await world.recipients(campaign.id)).toMatchObject(
      numbers.map((phoneNumber, position) => ({
        campaignId: campaign.id,
        phoneNumber,
        position,
        estimatedCost: iqd(60),
        billingState: 'reserved',
      })),
    );
    expect(await world.account()).toMatchObject({ held: iqd(120) });
  });

  it('a sample is replayed under its key, and is one child', async () => {
    const command = { ...(await world.created()), idempotency: keyed() };
    const first = await start.sample(command, [given()]);
    expect(await start.sample(command, [given()])).toEqual({ ...first, replayed: true });
    expect(await world.database.knex('campaigns').pluck('sample_of')).toEqual(
      expect.arrayContaining([null, anId()]),
    );
    expect(await world.database.knex('campaigns').select()).toHaveLength(2);
  });

  it('a sample costs what the category of the template costs now', async () => {
    const command = await world.created([], { templateId: OFFER.id });
    const { campaign } = await start.sample(command, [given()]);
    expect(campaign).toMatchObject({ category: 'MARKETING', reserved: iqd(90), estimatedCost: iqd(90) });
  });

  it.each([
    ['campaign-not-editable', { status: 'running' as const }, [given()]],
    ['template-not-approved', { templateId: PENDING.id }, [given()]],
    ['campaign-phone-not-found', { whatsappPhoneId: anId(77) }, [given()]],
    ['unsupported-numbers', {}, [given(aTestNumber('0201'))]],
  ])('a sample is rejected as %s, and no child is made', async (kind, campaign, recipients) => {
    const command = await world.created([], campaign);
    expect(await rejectionOf(start.sample(command, recipients))).toMatchObject({ kind });
    expect(await world.database.knex('campaigns').select()).toHaveLength(1);
  });
});

describe('starting scheduled campaigns', () => {
  let world: CampaignWorld;
  let start: StartCampaigns;

  afterEach(() => world.close());

  async function open(options: Parameters<typeof openCampaigns>[0] = {}): Promise<void> {
    world = await openCampaigns(options);
    start = world.container.get(StartCampaigns);
  }

  async function scheduled(id = anId(), numbers = testNumbers(2)): Promise<void> {
    const campaign = { id, status: 'scheduled', scheduledFor: AT } as const;
    await world.created(numbers, campaign);
    await world.unitOfWork.run(({ jobs }) =>
      jobs.add([startCampaignJob(aCampaign(campaign), AT)], world.clock.at),
    );
  }

  const lease = async () => (await world.lease()) as readonly LeasedJob<StartCampaignWork>[];
  const due = async (jobs: readonly LeasedJob<StartCampaignWork>[]): Promise<void> => {
    for (const job of jobs) await start.due(job);
  };
  const startId = (id = anId()) => `campaigns/${id}/start`;

  it('a scheduled campaign starts at its time, and its job is done', async () => {
    await open();
    await scheduled();
    expect(await world.runDueJobs()).toEqual([]);
    await world.database.knex('campaign_recipients').update({ estimated_cost: 1_000 });
    world.clock.at = AT;
    const jobs = await lease();
    expect(jobs.map(({ id }) => id)).toEqual([startId()]);
    await due(jobs);
    expect(await world.campaign()).toMatchObject({ status: 'running', startedAt: AT, reserved: iqd(120) });
    const recipients = await world.recipients();
    expect(recipients.map(({ estimatedCost }) => estimatedCost)).toEqual([iqd(60), iqd(60)]);
    expect(await world.jobs()).toEqual(
      Object.fromEntries(recipients.map(({ id }) => [`sms-${id}/start/0`, AT])),
    );
    expect(await world.account()).toMatchObject({ held: iqd(120) });
    expect(world.logger.entries).toEqual([]);
  });

  it('of two leases of one start the older does nothing', async () => {
    await open();
    await scheduled();
    world.clock.at = AT;
    const older = await lease();
    world.clock.at = AT + HOUR_MS;
    const newer = await lease();
    await due(older);
    expect(await world.campaign()).toMatchObject({ status: 'scheduled' });
    expect(await world.jobs()).toHaveProperty([startId()]);
    await due(newer);
    expect(await world.campaign()).toMatchObject({ status: 'running', startedAt: AT + HOUR_MS });
    await due([...older, ...newer]);
    expect(await world.account()).toMatchObject({ held: iqd(120) });
  });

  it('a start that another clock found due too early is put back to its time', async () => {
    await open();
    await scheduled();
    world.clock.at = AT;
    const jobs = await lease();
    world.clock.at = AT - 1;
    await due(jobs);
    expect(await world.campaign()).toMatchObject({ status: 'scheduled', scheduledFor: AT });
    expect(await world.jobs()).toEqual({ [startId()]: AT });
    world.clock.at = AT;
    await due(await lease());
    expect(await world.campaign()).toMatchObject({ status: 'running' });
  });

  it.each([
    ['was started by hand', { status: 'running', scheduled_for: null }],
    ['has failed', { status: 'failed' }],
    ['became a draft', { status: 'draft', scheduled_for: null }],
    ['has lost its time', { scheduled_for: null }],
  ])('a campaign that %s is left alone by its old job', async (_, changes) => {
    await open();
    await scheduled();
    await world.database.knex('campaigns').update(changes);
    const before = await world.campaign();
    world.clock.at = AT;
    await due(await lease());
    expect(await world.campaign()).toEqual(before);
    expect(await world.jobs()).toEqual({});
    expect(await world.account()).toMatchObject({ held: iqd(0) });
    expect(world.logger.entries).toEqual([]);
  });

  it('the job of a campaign that was deleted is done without an effect', async () => {
    await open();
    await scheduled();
    await world.database.knex('campaigns').delete();
    world.clock.at = AT;
    await due(await lease());
    expect(await world.jobs()).toEqual({});
  });

  it('the job of a project that is gone is done without an effect', async () => {
    await open();
    const campaign = aCampaign({ projectId: anId(66) });
    await world.unitOfWork.run(({ jobs }) => jobs.add([startCampaignJob(campaign, NOW)], NOW));
    await due(await lease());
    expect(await world.jobs()).toEqual({});
    expect(world.logger.entries).toEqual([]);
  });

  it('a scheduled campaign that cannot start fails, keeps the reason and is logged', async () => {
    await open({ credit: 100 });
    await scheduled();
    world.clock.at = AT;
    await due(await lease());
    const reason = 'The credit of the project does not suffice';
    expect(await world.campaign()).toMatchObject({
      status: 'failed',
      failureReason: reason,
      startedAt: null,
      completedAt: AT,
    });
    expect(world.logger.entries).toEqual([
      {
        level: 'warn',
        event: 'campaign_not_started',
        fields: { projectId: PROJECT.id, campaignId: anId(), reason, count: 1 },
      },
    ]);
    expect(await world.jobs()).toEqual({});
    expect(await world.account()).toMatchObject({ held: iqd(0) });
  });

  it('starts of a project that fail are one line of the log in a minute', async () => {
    await open({ credit: 100 });
    for (const n of [1, 2, 3]) await scheduled(anId(n));
    world.clock.at = AT;
    const jobs = await lease();
    await due(jobs);
    expect(world.logger.entries).toMatchObject([
      { event: 'campaign_not_started', fields: { campaignId: jobs[0]?.work.campaignId, count: 1 } },
    ]);
    for (const { work } of jobs) {
      expect(await world.campaign(work.campaignId)).toMatchObject({ status: 'failed' });
    }
  });

  it('a code that is sent while many campaigns start is accepted between two of them', async () => {
    await open({ credit: 100_000 });
    const all = Array.from({ length: 20 }, (_, n) => anId(n + 1));
    for (const id of all) await scheduled(id, testNumbers(50));
    world.clock.at = AT;
    const starting = due(await lease());
    const request = aSendRequest();
    await world.container.get(SendMessages).execute({ project: OTHER_PROJECT, request, idempotency: null });
    const stillScheduled = await world.database.knex('campaigns').where({ status: 'scheduled' });
    expect(stillScheduled.length).toBeGreaterThan(15);
    await starting;
    expect(await world.database.knex('campaigns').where({ status: 'running' })).toHaveLength(20);
  });

  it('a scheduled campaign fails when no whatsapp provider is there', async () => {
    await open({ isWithoutChannels: true });
    await scheduled();
    world.clock.at = AT;
    await due(await lease());
    const failureReason = 'whatsapp is not available to the project';
    expect(await world.campaign()).toMatchObject({ status: 'failed', failureReason });
  });

  it('without campaign limits all messages start at once, and no slots are taken', async () => {
    await open({ keepsPlatformLimits: false });
    await world.started(testNumbers(10));
    expect(new Set(Object.values(await world.jobs()))).toEqual(new Set([NOW]));
    expect(await world.database.knex('sending_slots').select()).toEqual([]);
  });

  it('a start waits briefly for locks, rejects, and leaves its job leased', async () => {
    await open();
    await scheduled();
    world.clock.at = AT;
    const jobs = await lease();
    world.units.failures = [new StorageLocked(new Error('lock timeout'))];
    world.units.asked.length = 0;
    await expect(due(jobs)).rejects.toBeInstanceOf(StorageLocked);
    expect(world.units.asked).toEqual(['full brief']);
    expect(await world.campaign()).toMatchObject({ status: 'scheduled' });
    expect(await world.jobs()).toMatchObject({ [startId()]: AT + LEASE_MS });
    await due(jobs);
    expect(await world.campaign()).toMatchObject({ status: 'running' });
  });

  it('a start passes on every other error of the database', async () => {
    await open();
    await scheduled();
    world.clock.at = AT;
    const jobs = await lease();
    world.units.failures = [new Error('disk full')];
    await expect(due(jobs)).rejects.toThrow('disk full');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManageCampaigns } from '../../../src/application/campaigns/manage-campaigns.ts';
import type { PlanRequest } from '../../../src/domain/campaigns/plan-campaign.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anId, HOUR_MS, NOW, SECOND_MS } from '../../support/builders.ts';
import {
  type CampaignWorld,
  NUMBER,
  OFFER,
  OTHER_PROJECT,
  openCampaigns,
  PLAIN,
  PROJECT,
  rejectionOf,
  TEMPLATE,
  testNumbers,
} from '../../support/campaign-world.ts';

const NOTHING: PlanRequest = {
  name: null,
  templateId: null,
  whatsappPhoneId: null,
  scheduleType: null,
  scheduledFor: null,
};
const PLAN: PlanRequest = {
  ...NOTHING,
  name: 'Spring',
  templateId: TEMPLATE.id,
  whatsappPhoneId: NUMBER.id,
};
const SCHEDULE = { scheduleType: 'schedule', scheduledFor: NOW + HOUR_MS } as const;
const startOf = (id: string) => `campaigns/${id}/start`;

describe('managing campaigns', () => {
  let world: CampaignWorld;
  let manage: ManageCampaigns;

  beforeEach(async () => {
    world = await openCampaigns();
    manage = world.container.get(ManageCampaigns);
  });

  afterEach(() => world.close());

  it('a new campaign is a draft without a job', async () => {
    const created = await manage.create(PROJECT, PLAN);
    expect(created).toMatchObject({
      name: 'Spring',
      projectId: PROJECT.id,
      status: 'draft',
      category: 'UTILITY',
      createdAt: NOW,
    });
    expect(await world.campaign(created.id)).toEqual(created);
    expect(await world.jobs()).toEqual({});
    expect(world.wakes.count).toBe(1);
  });

  it('a new campaign with a time is scheduled, and its job is due then', async () => {
    const created = await manage.create(PROJECT, { ...PLAN, ...SCHEDULE });
    expect(created).toMatchObject({ status: 'scheduled', scheduledFor: NOW + HOUR_MS });
    expect(await world.jobs()).toEqual({ [startOf(created.id)]: NOW + HOUR_MS });
  });

  it('a campaign that cannot be planned is not created', async () => {
    const planned = manage.create(PROJECT, { ...PLAN, templateId: anId(77) });
    expect(await rejectionOf(planned)).toEqual({ kind: 'campaign-template-not-found' });
    expect(await rejectionOf(manage.create(OTHER_PROJECT, PLAN))).toEqual({
      kind: 'campaign-template-not-found',
    });
    expect(await world.database.knex('campaigns').select()).toEqual([]);
  });

  it('an update with another time moves the one job, and without a time removes it', async () => {
    const command = await world.created(testNumbers(2));
    await manage.update(command, { ...NOTHING, ...SCHEDULE });
    expect(await world.jobs()).toEqual({ [startOf(anId())]: NOW + HOUR_MS });
    world.clock.at = NOW + SECOND_MS;
    const moved = await manage.update(command, {
      ...NOTHING,
      name: 'Summer',
      scheduledFor: NOW + 2 * HOUR_MS,
    });
    expect(moved).toMatchObject({ name: 'Summer', status: 'scheduled', updatedAt: NOW + SECOND_MS });
    expect(await world.campaign()).toEqual(moved);
    expect(await world.jobs()).toEqual({ [startOf(anId())]: NOW + 2 * HOUR_MS });
    expect(world.wakes.count).toBe(2);
    const draft = await manage.update(command, { ...NOTHING, scheduleType: 'now' });
    expect(draft).toMatchObject({ status: 'draft', scheduledFor: null, estimatedCost: iqd(120) });
    expect(await world.jobs()).toEqual({});
  });

  it('an update to a template of another category has new costs', async () => {
    const command = await world.created(testNumbers(2));
    const updated = await manage.update(command, { ...NOTHING, templateId: OFFER.id, ...SCHEDULE });
    expect(updated).toMatchObject({ category: 'MARKETING', estimatedCost: iqd(180), totalRecipients: 2 });
    expect(await world.campaign()).toEqual(updated);
    expect((await world.recipients()).map(({ estimatedCost }) => estimatedCost)).toEqual([iqd(90), iqd(90)]);
    expect(await world.jobs()).toEqual({ [startOf(anId())]: NOW + HOUR_MS });
  });

  it('an update that keeps the template writes no costs', async () => {
    const command = await world.created(testNumbers(1));
    await world.database.knex('campaign_recipients').update({ estimated_cost: 5_000 });
    await manage.update(command, { ...NOTHING, name: 'Summer' });
    expect((await world.recipients())[0]?.estimatedCost).toBe(iqd(5));
  });

  it('an update to a template that the recipients do not fit is rejected', async () => {
    const draft = await world.created(testNumbers(1), { id: anId(2) });
    const update = manage.update(draft, { ...NOTHING, templateId: PLAIN.id });
    expect(await rejectionOf(update)).toMatchObject({ kind: 'recipient-parameters' });
    expect(await world.campaign(anId(2))).toMatchObject({ templateId: TEMPLATE.id });
  });

  it('nobody updates a campaign that has started, or one of another project', async () => {
    const running = await world.created([], { status: 'running' });
    expect(await rejectionOf(manage.update(running, NOTHING))).toEqual({ kind: 'campaign-not-editable' });
    const ofOther = { ...running, project: OTHER_PROJECT };
    expect(await rejectionOf(manage.update(ofOther, NOTHING))).toEqual({ kind: 'campaign-not-found' });
  });

  it('a deleted campaign is gone with its recipients and its job', async () => {
    const command = await world.created(testNumbers(2));
    await world.created(testNumbers(1), { id: anId(2) });
    await manage.update(command, { ...NOTHING, ...SCHEDULE });
    await manage.delete(command);
    expect(await world.database.knex('campaigns').pluck('id')).toEqual([anId(2)]);
    expect(await world.recipients()).toEqual([]);
    expect(await world.recipients(anId(2))).toHaveLength(1);
    expect(await world.jobs()).toEqual({});
  });

  it('nobody deletes a campaign that has started, or one of another project', async () => {
    const running = await world.created([], { status: 'running' });
    expect(await rejectionOf(manage.delete(running))).toEqual({ kind: 'campaign-not-editable' });
    const ofOther = { ...running, project: OTHER_PROJECT };
    expect(await rejectionOf(manage.delete(ofOther))).toEqual({ kind: 'campaign-not-found' });
    expect(await world.campaign()).toMatchObject({ status: 'running' });
  });
});

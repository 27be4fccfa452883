import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BrowseCampaigns } from '../../../src/application/campaigns/browse-campaigns.ts';
import { anId } from '../../support/builders.ts';
import {
  type CampaignWorld,
  OTHER_PROJECT,
  openCampaigns,
  PROJECT,
  rejectionOf,
  TEMPLATE,
  testNumbers,
} from '../../support/campaign-world.ts';

const ALL = { status: null, search: null };
const PAGE = { page: 1, limit: 2 };

describe('reading campaigns', () => {
  let world: CampaignWorld;
  let browse: BrowseCampaigns;

  beforeEach(async () => {
    world = await openCampaigns();
    browse = world.container.get(BrowseCampaigns);
  });

  afterEach(() => world.close());

  it('a list has one page of the campaigns of the project, the newest first', async () => {
    for (const n of [1, 2, 3]) await world.created([], { id: anId(n) });
    await world.created([], { id: anId(4), projectId: OTHER_PROJECT.id });
    await world.created([], { id: anId(5), status: 'failed' });
    const all = await browse.list(PROJECT, { status: null }, PAGE);
    expect(all.total).toBe(4);
    expect(all.campaigns.map(({ id }) => id)).toEqual([anId(5), anId(3)]);
    const failed = await browse.list(PROJECT, { status: 'failed' }, PAGE);
    expect(failed).toMatchObject({ total: 1, campaigns: [{ id: anId(5) }] });
  });

  it('a campaign is read with a page of its recipients and with its samples', async () => {
    const command = await world.created(testNumbers(3));
    await world.created([], { id: anId(2), sampleOf: anId() });
    await world.created([], { id: anId(3) });
    const detail = await browse.detail(command, ALL, PAGE);
    expect(detail.campaign).toEqual(await world.campaign());
    expect(detail.total).toBe(3);
    expect(detail.recipients.map(({ position }) => position)).toEqual([0, 1]);
    expect(detail.samples.map(({ id }) => id)).toEqual([anId(2)]);
    const found = await browse.detail(command, { ...ALL, search: '0000020001' }, PAGE);
    expect(found).toMatchObject({ total: 1, recipients: [{ position: 2 }] });
  });

  it('nobody reads a campaign of another project, or one that does not exist', async () => {
    const command = await world.created();
    const unknown = { kind: 'campaign-not-found' };
    const ofOther = { ...command, project: OTHER_PROJECT };
    expect(await rejectionOf(browse.detail(ofOther, ALL, PAGE))).toEqual(unknown);
    expect(await rejectionOf(browse.templateOfCampaign(ofOther))).toEqual(unknown);
    expect(await rejectionOf(browse.detail({ ...command, campaignId: anId(9) }, ALL, PAGE))).toEqual(unknown);
  });

  it('a template is read by its id or by a campaign that sends it', async () => {
    expect(await browse.template(PROJECT, TEMPLATE.id)).toEqual(TEMPLATE);
    expect(await browse.templateOfCampaign(await world.created())).toEqual(TEMPLATE);
  });

  it('a template that the project does not have is not found', async () => {
    const missing = { kind: 'campaign-template-not-found' };
    const gone = await world.created([], { templateId: anId(77) });
    expect(await rejectionOf(browse.templateOfCampaign(gone))).toEqual(missing);
    expect(await rejectionOf(browse.template(OTHER_PROJECT, TEMPLATE.id))).toEqual(missing);
  });
});

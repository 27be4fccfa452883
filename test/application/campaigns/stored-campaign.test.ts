import { expect, it } from 'vitest';
import { lockCampaign } from '../../../src/application/campaigns/stored-campaign.ts';
import { anId } from '../../support/builders.ts';
import { OTHER_PROJECT, openCampaigns, PROJECT, rejectionOf } from '../../support/campaign-world.ts';

it('only the project of a campaign locks it', async () => {
  const world = await openCampaigns();
  await world.created();
  const lock = (project: typeof PROJECT, campaignId: string) =>
    world.unitOfWork.run((stores) => lockCampaign(stores, { project, campaignId }));
  expect(await lock(PROJECT, anId())).toEqual(await world.campaign());
  expect(await rejectionOf(lock(OTHER_PROJECT, anId()))).toEqual({ kind: 'campaign-not-found' });
  expect(await rejectionOf(lock(PROJECT, anId(2)))).toEqual({ kind: 'campaign-not-found' });
  await world.close();
});
